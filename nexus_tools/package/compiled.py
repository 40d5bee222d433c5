"""Compiled Move packages: those that ship with us, and what they are compared with on chain."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nexus_tools.errors import NotFoundError
from nexus_tools.sui.address import ZERO, Address
from nexus_tools.sui.object import MovePackage, Object

_OURS = "nexus_tools.package"


@dataclass(frozen=True, slots=True)
class CompiledPackage:
    """Modules in the order of their dependencies, and the packages that they are linked to.

    `digest` is the package digest that an upgrade has to name; `sources_digest` and `compiler` say
    what ours were made from and with.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[Address, ...]
    digest: bytes
    sources_digest: str = ""
    compiler: str = ""


@cache
def load_package(home: str = _OURS) -> CompiledPackage:
    """The package that ships with this release: that of the registries, or another one.

    `home` is the Python package whose folder `bytecode` has it. Raises `package_missing`.
    """
    folder = files(home) / "bytecode"
    try:
        document = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        modules = tuple((folder / f"{name}.mv").read_bytes() for name in document["modules"])
    except (FileNotFoundError, KeyError) as error:
        raise NotFoundError(
            "package_missing",
            f"the compiled Move package is not installed: {error}",
            hint="install nexus-tools again, or compile the package from its sources",
        ) from error
    return CompiledPackage(
        modules,
        tuple(map(Address.parse, document["dependencies"])),
        bytes.fromhex(document["digest"]),
        document["sources_digest"],
        document["compiler"],
    )


def compiled_modules(package: Object | None, original: Address) -> set[bytes]:
    """The modules of a published package, as they were before; none if it is no package.

    A compiled module has the address 0x0, in whose place the chain puts that of the first version,
    which is `original`.
    """
    if package is None or not isinstance(package.data, MovePackage):
        return set()
    return {code.replace(original, ZERO) for _, code in package.data.modules}
