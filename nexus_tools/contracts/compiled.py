"""The compiled Move packages of this release, and their comparison with published packages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Self

from nexus_tools.errors import NotFoundError
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.object import MovePackage, Object

PACKAGE_NAMES = ("nexus_tools", "nexus_workflows")
"""The names of the nexus-tools packages in their manifests."""

_TOOLS = "nexus_tools.contracts"
_WORKFLOWS = "nexus_tools.contracts.workflows"


@dataclass(frozen=True, slots=True)
class CompiledPackage:
    """A compiled package: its modules in dependency order, and the packages to which it links.

    `digest` is the package digest that an upgrade must name. `sources_digest` and `compiler`
    identify the sources and the compiler of a shipped package. If the ID of a dependency depends on
    the network, `placeholders` maps its name to a placeholder address, which `linked` replaces.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[Address, ...]
    digest: bytes
    sources_digest: str = ""
    compiler: str = ""
    placeholders: Mapping[str, Address] = field(default_factory=dict)

    def linked(self, **published: Package) -> Self:
        """Return this package, linked to the published packages, which are passed by name.

        In the modules, the ID of the first version of a dependency replaces its placeholder
        address. The package links to the newest version of the dependency.
        """
        # Imported late, because commands that only read need no bytecode.
        from nexus_tools.sui.bytecode import package_digest, with_addresses  # noqa: PLC0415

        original = {
            self.placeholders[name]: package.original_id for name, package in published.items()
        }
        newest = {self.placeholders[name]: package.id for name, package in published.items()}
        modules = tuple(with_addresses(module, original) for module in self.modules)
        dependencies = tuple(newest.get(dependency, dependency) for dependency in self.dependencies)
        return replace(
            self,
            modules=modules,
            dependencies=dependencies,
            digest=package_digest(modules, dependencies),
            placeholders={},
        )


@cache
def load_package(home: str = _TOOLS) -> CompiledPackage:
    """Return a package that ships with this release, by default the package of tools.

    `home` is the Python package whose folder `bytecode` contains the Move package. Raises
    `package_missing`.
    """
    folder = files(home) / "bytecode"
    try:
        document = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        modules = tuple((folder / f"{name}.mv").read_bytes() for name in document["modules"])
    except (FileNotFoundError, KeyError) as error:
        raise NotFoundError(
            "package_missing",
            f"the compiled Move package is not installed: {error}",
            hint="Reinstall nexus-tools, or compile the package from its sources.",
        ) from error
    return CompiledPackage(
        modules,
        tuple(map(Address.parse, document["dependencies"])),
        bytes.fromhex(document["digest"]),
        document["sources_digest"],
        document["compiler"],
        {name: Address.parse(address) for name, address in document["needs"].items()},
    )


def shipped_digest(name: str) -> str:
    """Return the digest of a shipped package in hexadecimal. `name` is the name in its manifest."""
    home = dict(zip(PACKAGE_NAMES, (_TOOLS, _WORKFLOWS), strict=True))[name]
    document = json.loads((files(home) / "bytecode" / "package.json").read_text(encoding="utf-8"))
    return str(document["digest"])


def load_workflows(tools: Package) -> CompiledPackage:
    """Return the shipped package of workflows, linked to the published package of tools.

    Raises `package_missing`.
    """
    return load_package(_WORKFLOWS).linked(nexus_tools=tools)


def shipped_packages() -> tuple[CompiledPackage, CompiledPackage]:
    """Return the packages of tools and of workflows, without links to published packages."""
    return load_package(), load_package(_WORKFLOWS)


def linked_packages(package: Object | None) -> set[Address]:
    """Return the packages to which `package` links, or an empty set if it is not a package."""
    if package is None or not isinstance(package.data, MovePackage):
        return set()
    return {link.upgraded_id for link in package.data.linkage}


def compiled_modules(package: Object | None, original: Address) -> set[bytes]:
    """Return the modules of a published package in compiled form, or an empty set.

    A compiled module has the address 0x0. The chain replaces this address with `original`, the ID
    of the package's first version. This function reverts the replacement. If `package` is not a
    package, the result is empty.
    """
    if package is None or not isinstance(package.data, MovePackage):
        return set()
    return {code.replace(original, ZERO) for _, code in package.data.modules}
