"""The Move packages of the benchmarks, compiled."""

from benchmarks.processes import ROOT
from nexus_tools.sui.localnet.compiler import MoveBuilder, read_sources


def compiled(name: str) -> bytes:
    """Return the only module of a package in `move/`, at address 0x0."""
    builder = MoveBuilder.installed(ROOT / ".cache")
    [module] = builder.build(read_sources(ROOT / "move" / name)).modules
    return module
