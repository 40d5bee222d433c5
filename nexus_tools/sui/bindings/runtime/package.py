"""Published packages: the IDs that calls and types name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from msgspec import Struct

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

_NONE: Mapping[str, Address] = MappingProxyType({})


class Package(Struct, frozen=True):
    """A package as published on one network.

    A call names `id`, the package version to run. A type names the version that first defined it.
    By default, this version is `original_id`, the first version of the package. `origins` maps each
    type that a later version added, as `module::Name`, to that version.

    For example, 0xA was upgraded to 0xB and then to 0xC. Calls name 0xC. A struct of the first
    version is 0xA::m::Old. A struct that the second version added is 0xB::m::New, which is in
    `origins`.
    """

    id: Address
    original_id: Address
    origins: Mapping[str, Address] = _NONE

    @classmethod
    def at(cls, package_id: Address) -> Self:
        """Return a package that was never upgraded."""
        return cls(package_id, package_id)

    @classmethod
    def of(cls, package: MovePackage) -> Self:
        """Return the package for a package object, which may be of any version."""
        from nexus_tools.sui.bytecode import deserialize  # noqa: PLC0415 - only needed for this error

        original_id = Address(deserialize(package.modules[0][1]).address)
        origins = {
            f"{origin.module}::{origin.datatype}": origin.package
            for origin in package.type_origins
            if origin.package != original_id
        }
        return cls(package.id, original_id, origins)

    def type_tag(self, name: str, *type_arguments: TypeTag) -> StructTag:
        """Return the type tag of the package's type `module::Name`."""
        module, _, datatype = name.partition("::")
        address = self.origins.get(name, self.original_id)
        return StructTag(address, module, datatype, type_arguments)

    def name_of(self, tag: StructTag) -> str | None:
        """Return a type's `module::Name`, or None if another package defines the type."""
        name = f"{tag.module}::{tag.name}"
        return name if tag.address == self.origins.get(name, self.original_id) else None
