"""Move sources -> bytecode, with the genuine compiler. Needs the extra `compiler`."""

from typing import TYPE_CHECKING, Any

from nexus_tools.localnet.compiler.install import COMPILER_VERSION, install_builder
from nexus_tools.localnet.compiler.package_sources import PackageSources, read_package
from nexus_tools.localnet.compiler.sources import read_sources, sources_digest

if TYPE_CHECKING:
    from nexus_tools.localnet.compiler.builder import BuiltPackage, MoveBuilder, MoveTestReport

__all__ = [
    "COMPILER_VERSION",
    "BuiltPackage",
    "MoveBuilder",
    "MoveTestReport",
    "PackageSources",
    "install_builder",
    "read_package",
    "read_sources",
    "sources_digest",
]


def __getattr__(name: str) -> Any:
    """Import wasmtime only when something is built."""
    if name in ("BuiltPackage", "MoveBuilder", "MoveTestReport"):
        from nexus_tools.localnet.compiler import builder  # noqa: PLC0415

        return getattr(builder, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
