"""Compiled Move packages: those that ship with us, and what they are compared with on chain."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Self

from nexus_tools.errors import NotFoundError
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.bytecode import package_digest, with_addresses
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.object import MovePackage, Object

PACKAGE_NAMES = ("nexus_tools", "nexus_workflows")
"""What the manifests of our packages call them."""

_OURS = "nexus_tools.contracts"
_WORKFLOWS = "nexus_tools.contracts.workflows"


@dataclass(frozen=True, slots=True)
class CompiledPackage:
    """Modules in the order of their dependencies, and the packages that they are linked to.

    `digest` is the package digest that an upgrade has to name; `sources_digest` and `compiler` say
    what ours were made from and with. `needs` are packages whose ids a network has to give, by
    their names, with the addresses that stand for them: `linked` puts the ids in place.
    """

    modules: tuple[bytes, ...]
    dependencies: tuple[Address, ...]
    digest: bytes
    sources_digest: str = ""
    compiler: str = ""
    needs: Mapping[str, Address] = field(default_factory=dict)

    def linked(self, **published: Package) -> Self:
        """The package as it is published where these are, by their names.

        In its modules the first version of each takes the place of the address that it had for the
        compiler; the package is linked to the newest one.
        """
        original = {self.needs[name]: package.original_id for name, package in published.items()}
        newest = {self.needs[name]: package.id for name, package in published.items()}
        modules = tuple(with_addresses(module, original) for module in self.modules)
        dependencies = tuple(newest.get(each, each) for each in self.dependencies)
        return replace(
            self,
            modules=modules,
            dependencies=dependencies,
            digest=package_digest(modules, dependencies),
            needs={},
        )


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
        {name: Address.parse(each) for name, each in document["needs"].items()},
    )


def shipped_digest(name: str) -> str:
    """Return the package digest in hex of one of our packages, by the name of its manifest."""
    home = dict(zip(PACKAGE_NAMES, (_OURS, _WORKFLOWS), strict=True))[name]
    document = json.loads((files(home) / "bytecode" / "package.json").read_text(encoding="utf-8"))
    return str(document["digest"])


def load_workflows(tools: Package) -> CompiledPackage:
    """The package of workflows that ships with this release, where that of tools is published.

    Raises `package_missing`.
    """
    return load_package(_WORKFLOWS).linked(nexus_tools=tools)


def our_packages() -> tuple[CompiledPackage, CompiledPackage]:
    """Return the packages of tools and of workflows, which are not linked yet."""
    return load_package(), load_package(_WORKFLOWS)


def linked_packages(package: Object | None) -> set[Address]:
    """What a published package is linked to; nothing if it is no package."""
    if package is None or not isinstance(package.data, MovePackage):
        return set()
    return {link.upgraded_id for link in package.data.linkage}


def compiled_modules(package: Object | None, original: Address) -> set[bytes]:
    """The modules of a published package, as they were before; none if it is no package.

    A compiled module has the address 0x0, in whose place the chain puts that of the first version,
    which is `original`.
    """
    if package is None or not isinstance(package.data, MovePackage):
        return set()
    return {code.replace(original, ZERO) for _, code in package.data.modules}
