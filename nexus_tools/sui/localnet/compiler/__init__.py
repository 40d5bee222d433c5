"""The compilation of Move sources with Sui's compiler. This package requires the extra `compiler`.

Start with `builder.py`, which calls the compiler, and `package_build.py`, which builds a folder.
"""

from typing import TYPE_CHECKING, Any

from nexus_tools.sui.localnet.compiler.install import COMPILER_VERSION, WASM_PATH, install_builder
from nexus_tools.sui.localnet.compiler.npm_package import download_npm_files
from nexus_tools.sui.localnet.compiler.package_sources import (
    Bundle,
    DependencySources,
    PackageSources,
    read_package,
)
from nexus_tools.sui.localnet.compiler.sources import (
    published_sources,
    read_sources,
    sources_digest,
)
from nexus_tools.sui.localnet.compiler.stubs import interface_stubs, stub_packages

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.compiler.builder import (
        BUILD_TIMEOUT_S,
        NO_DEPENDENCIES,
        BuiltPackage,
        Dependencies,
        MoveBuilder,
        MoveTestReport,
    )
    from nexus_tools.sui.localnet.compiler.package_build import (
        CompiledPackage,
        build_package,
        build_to_publish,
    )

__all__ = [
    "BUILD_TIMEOUT_S",
    "COMPILER_VERSION",
    "NO_DEPENDENCIES",
    "WASM_PATH",
    "BuiltPackage",
    "Bundle",
    "CompiledPackage",
    "Dependencies",
    "DependencySources",
    "MoveBuilder",
    "MoveTestReport",
    "PackageSources",
    "build_package",
    "build_to_publish",
    "download_npm_files",
    "install_builder",
    "interface_stubs",
    "published_sources",
    "read_package",
    "read_sources",
    "sources_digest",
    "stub_packages",
]
_WITH_WASMTIME = frozenset(
    {
        "BUILD_TIMEOUT_S",
        "NO_DEPENDENCIES",
        "BuiltPackage",
        "Dependencies",
        "MoveBuilder",
        "MoveTestReport",
    }
)


def __getattr__(name: str) -> Any:
    """Import wasmtime only when something is built."""
    if name in _WITH_WASMTIME:
        from nexus_tools.sui.localnet.compiler import builder  # noqa: PLC0415

        return getattr(builder, name)
    if name in ("CompiledPackage", "build_package", "build_to_publish"):
        from nexus_tools.sui.localnet.compiler import package_build  # noqa: PLC0415

        return getattr(package_build, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
