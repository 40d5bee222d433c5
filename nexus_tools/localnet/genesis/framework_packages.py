"""The packages 0x1, 0x2 and 0x3 as objects of the ledger."""

from collections.abc import Iterator, Sequence

from nexus_tools.localnet.bytecode import Outline, read_outline
from nexus_tools.localnet.framework import FrameworkPackage, load_framework
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Linkage, MovePackage, TypeOrigin

_VERSION = 1


def framework_packages() -> tuple[MovePackage, ...]:
    """The genuine framework, each package in its first version.

    Raises `framework_not_found` and `framework_version_mismatch`.
    """
    return tuple(map(_move_package, load_framework().values()))


def _move_package(package: FrameworkPackage) -> MovePackage:
    outlines = [read_outline(data) for data in package.modules]
    named = zip((module.name for module in outlines), package.modules, strict=True)
    package_id = Address(package.address)
    linkage = (Linkage(Address(each), Address(each), _VERSION) for each in package.dependencies)
    return MovePackage(
        id=package_id,
        version=_VERSION,
        modules=tuple(sorted(named)),
        type_origins=tuple(_type_origins(package_id, outlines)),
        linkage=tuple(sorted(linkage, key=lambda link: link.original_id)),
    )


def _type_origins(package_id: Address, modules: Sequence[Outline]) -> Iterator[TypeOrigin]:
    """All types, in the order of the modules and their definitions."""
    for module in modules:
        for name in module.datatypes:
            yield TypeOrigin(module.name, name, package_id)
