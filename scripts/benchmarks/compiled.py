"""The Move packages of the benchmarks, compiled."""

from benchmarks.processes import ROOT
from nexus_tools.localnet.compiler import MoveBuilder, install_builder, read_sources


def compiled(name: str) -> bytes:
    """The one module of a package in `move/`, at address 0x0."""
    cache = ROOT / ".cache"
    builder = MoveBuilder(install_builder(cache / "sui-move-builder"), cache / "wasmtime")
    [module] = builder.build(read_sources(ROOT / "move" / name)).modules
    return module
