"""The loader of Sui's framework bytecode from the `sui_sandbox` wheel.

The loader does not import the wheel but reads its shared library as data. The loader accepts only
packages with the digests below, so a localnet runs exactly the framework for which it was written.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.errors import NotFoundError, ValidationError
from nexus_tools.sui.localnet.framework.search import find_packages
from nexus_tools.sui.types.address import MOVE_STDLIB, SUI_FRAMEWORK, SUI_SYSTEM

WHEEL = "sui-sandbox"
FRAMEWORK_VERSION = "1.62.1"
PROTOCOL_VERSION = 105
"""The protocol version of this framework release. By default, a localnet uses this version."""

FRAMEWORK_NAMES: Mapping[bytes, str] = {
    MOVE_STDLIB: "std",
    SUI_FRAMEWORK: "sui",
    SUI_SYSTEM: "sui_system",
}
"""The addresses of the framework's packages, with the names that Move sources use for them."""

_HINT = "Run `pip install 'nexus-tools[localnet]'`."
_LIBRARY_SUFFIXES = (".so", ".pyd", ".dylib")

DEPENDENCIES: dict[bytes, tuple[bytes, ...]] = {
    MOVE_STDLIB: (),
    SUI_FRAMEWORK: (MOVE_STDLIB,),
    SUI_SYSTEM: (MOVE_STDLIB, SUI_FRAMEWORK),
}
"""The packages that each package of the framework depends on, transitively."""

# Package digests of the framework mainnet-v1.62.1.
_DIGESTS: Mapping[bytes, str] = {
    MOVE_STDLIB: "987480925b0bfa70cbd975b5b37ca43b61dd1d8767b0c06dfeb7219cdb04c824",
    SUI_FRAMEWORK: "3d78a6a827a0882985e39438dc0d6f42431e3a117d685901d758c01ab3cefc1c",
    SUI_SYSTEM: "a31dbb16ba67d5e2279cd95bc99f349a1ec49ae15bdf30f459a82664123b24df",
}


class FrameworkPackage(Struct, frozen=True):
    """The module files of a framework package, in the order in which it was built.

    `address` and `dependencies` are addresses of 32 bytes. The dependencies are transitive.
    """

    address: bytes
    modules: tuple[bytes, ...]
    dependencies: tuple[bytes, ...]


@cache
def load_framework() -> Mapping[bytes, FrameworkPackage]:
    """Return the packages 0x1, 0x2 and 0x3 by their addresses of 32 bytes.

    Raises:
        NotFoundError: The wheel is not installed.
        ValidationError: The wheel does not contain the framework version that this localnet needs.
    """
    library = find_library()
    with library.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        packages = dict(islice(_identify(find_packages(data)), len(_DIGESTS)))
    missing = [f"0x{address[-1]:x}" for address in _DIGESTS if address not in packages]
    if missing:
        raise ValidationError(
            "framework_version_mismatch",
            f"{WHEEL} {_installed_version()} does not contain Sui framework {FRAMEWORK_VERSION}:"
            f" {', '.join(missing)} not found in {library.name}",
            hint=_HINT,
        )
    return MappingProxyType({address: packages[address] for address in _DIGESTS})


def find_library() -> Path:
    """Return the wheel's shared library, without importing the wheel. Raises `NotFoundError`."""
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).iterdir()):
            if path.suffix in _LIBRARY_SUFFIXES:
                return path
    raise NotFoundError(
        "framework_not_found",
        f"{WHEEL}, which contains the Sui framework {FRAMEWORK_VERSION}, is not installed",
        hint=_HINT,
    )


def _identify(packages: Iterator[tuple[bytes, ...]]) -> Iterator[tuple[bytes, FrameworkPackage]]:
    """Yield the address and package of each framework package, recognized by its pinned digest."""
    missing = dict(DEPENDENCIES)
    for modules in packages:
        for address, dependencies in tuple(missing.items()):
            if package_digest(modules, dependencies).hex() == _DIGESTS[address]:
                yield address, FrameworkPackage(address, modules, missing.pop(address))


def _installed_version() -> str:
    from importlib import metadata  # noqa: PLC0415 - 25 ms, only for an error

    try:
        return metadata.version(WHEEL)
    except metadata.PackageNotFoundError:
        return "(of unknown version)"
