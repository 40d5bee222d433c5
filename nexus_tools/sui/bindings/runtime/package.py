"""Published packages: the package IDs that function calls and type names contain."""

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

    A call contains `id`, the ID of the package version to run. A type contains the ID of the
    version that first defined the type. By default, that is `original_id`, the ID of the first
    version. `origins` maps each type that a later version added, as `module::Name`, to the ID of
    that version.

    For example, 0xA was upgraded to 0xB and then to 0xC. Calls contain 0xC. A struct of the first
    version is 0xA::m::Old. A struct that the second version added is 0xB::m::New, so `origins` maps
    m::New to 0xB.
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
        """Create a `Package` from a package object of any version."""
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
