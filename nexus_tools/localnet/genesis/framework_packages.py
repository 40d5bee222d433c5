"""The packages 0x1, 0x2 and 0x3 as objects of the ledger."""

from nexus_tools.localnet.bytecode import declared_types
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
    declared = [declared_types(data) for data in package.modules]
    named = zip((name for name, _ in declared), package.modules, strict=True)
    package_id = Address(package.address)
    linkage = (Linkage(Address(each), Address(each), _VERSION) for each in package.dependencies)
    return MovePackage(
        id=package_id,
        version=_VERSION,
        modules=tuple(sorted(named)),
        type_origins=tuple(
            TypeOrigin(name, datatype, package_id) for name, types in declared for datatype in types
        ),
        linkage=tuple(sorted(linkage, key=lambda link: link.original_id)),
    )
