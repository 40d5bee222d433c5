"""A published package: what calls name, and what types name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from msgspec import Struct

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

_NONE: Mapping[str, Address] = MappingProxyType({})


class Package(Struct, frozen=True):
    """A package as it is published on one network.

    Calls go to `id`, its newest version. Types are named by the version that first defined them:
    `original_id`, the first one, or for those that came later what `origins` says, by
    `module::Name`.

    After two upgrades, 0xC of 0xA say, calls go to 0xC; a struct of the first version is
    0xA::m::Old, and one that the second version 0xB added is 0xB::m::New: `origins` has it.
    """

    id: Address
    original_id: Address
    origins: Mapping[str, Address] = _NONE

    @classmethod
    def at(cls, package_id: Address) -> Self:
        """A package that was never upgraded."""
        return cls(package_id, package_id)

    @classmethod
    def of(cls, package: MovePackage) -> Self:
        """A package as a node gives it, in whatever version it is."""
        from nexus_tools.sui.bytecode import deserialize  # noqa: PLC0415 - for this alone

        original_id = Address(deserialize(package.modules[0][1]).address)
        origins = {
            f"{origin.module}::{origin.datatype}": origin.package
            for origin in package.type_origins
            if origin.package != original_id
        }
        return cls(package.id, original_id, origins)

    def type_tag(self, name: str, *type_arguments: TypeTag) -> StructTag:
        """The type `module::Name` of the package."""
        module, _, datatype = name.partition("::")
        address = self.origins.get(name, self.original_id)
        return StructTag(address, module, datatype, type_arguments)

    def name_of(self, tag: StructTag) -> str | None:
        """`module::Name`, if the package defines this type."""
        name = f"{tag.module}::{tag.name}"
        return name if tag.address == self.origins.get(name, self.original_id) else None
