"""The types of published packages, with the encoding, size and depth of their values."""

from collections.abc import Callable, Iterator

from nexus_tools.sui.bytecode import (
    PRIMITIVE_ABILITIES,
    SIGNER_ABILITIES,
    Ability,
    abilities_of_datatype,
    abilities_of_vector,
)
from nexus_tools.sui.localnet.vm.definitions import Datatype, Function, Type
from nexus_tools.sui.localnet.vm.errors import ErrorKind, LinkError, PrimitiveError
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.localnet.vm.loaded_package import LoadedPackage
from nexus_tools.sui.localnet.vm.metering import VALUE_DEPTH_MAX
from nexus_tools.sui.localnet.vm.values.depth import ValueDepth
from nexus_tools.sui.localnet.vm.values.serialization import Codecs
from nexus_tools.sui.localnet.vm.values.size import Copier, Sizer, ValueSize, copier
from nexus_tools.sui.localnet.vm.values.values import Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag


class Types:
    """Packages by storage id, with cached codecs, sizes and depths of their types.

    `packages` returns a package by its storage id and is called once for each package. `forgotten`
    is called with the id of a removed package, so that other caches can also discard its
    definitions.
    """

    def __init__(
        self,
        packages: Callable[[Address], MovePackage | None],
        forgotten: Callable[[Address], None],
    ) -> None:
        self._fetch = packages
        self._forgotten = forgotten
        self._packages: dict[Address, LoadedPackage] = {}
        self._depth = ValueDepth(self._require)
        self._sizes = ValueSize(self._require)
        self._codecs = Codecs(self._require, self._check_depth)

    # Packages

    def package(self, package: Address) -> LoadedPackage | None:
        """Return the package with this storage id, or None."""
        loaded = self._packages.get(package)
        if loaded is None:
            package_object = self._fetch(package)
            loaded = None if package_object is None else self._add(package_object)
        return loaded

    def load(self, package: Address) -> LoadedPackage:
        """Return the package with this storage id.

        Raises:
            LinkError: The package does not exist.
        """
        loaded = self.package(package)
        if loaded is None:
            raise LinkError(f"package {package.short()} does not exist")
        return loaded

    def publish(self, package: MovePackage) -> None:
        """Add a package that is not committed yet."""
        self.forget(package.id)
        self._add(package)

    def share(self, package: LoadedPackage) -> None:
        """Add a package that other machines may use at the same time."""
        self._packages[package.id] = package

    def forget(self, package: Address) -> None:
        """Remove a package and all cached codecs, sizes and depths."""
        self._packages.pop(package, None)
        self._codecs.forget()
        self._depth.forget()
        self._sizes.forget()
        self._forgotten(package)

    def _add(self, package: MovePackage) -> LoadedPackage:
        loaded = self._packages[package.id] = LoadedPackage(package, self.load)
        return loaded

    # Definitions

    def modules(self, package: Address) -> Iterator[LoadedModule]:
        """Return the modules of a package.

        Raises:
            LinkError: The package does not exist.
        """
        return self.load(package).modules()

    def function(self, package: Address, module: str, name: str) -> Function | None:
        """Return a function of the package with this storage id, or None."""
        loaded = self.package(package)
        loaded_module = loaded.module(module) if loaded else None
        return loaded_module.function(name) if loaded_module else None

    def functions(self, package: Address) -> Iterator[Function]:
        """Yield all functions of a package."""
        for module in self.modules(package):
            yield from module.functions()

    def datatype(self, tag: StructTag) -> Datatype | None:
        """Return the definition of the struct or enum that a type instantiates, or None."""
        loaded = self.package(tag.address)
        module = loaded.module(tag.module) if loaded else None
        return module.datatype(tag.name) if module else None

    def datatypes(self, package: Address) -> Iterator[Datatype]:
        """Yield all structs and enums of a package."""
        for module in self.modules(package):
            yield from module.datatypes()

    def abilities(self, type_: TypeTag) -> Ability:
        """Return the abilities of a type.

        Raises:
            LinkError: The type does not exist.
        """
        return Ability(self._abilities(type_))

    def _abilities(self, type_: TypeTag) -> int:
        if isinstance(type_, Primitive):
            return SIGNER_ABILITIES if type_ is Primitive.SIGNER else PRIMITIVE_ABILITIES
        if isinstance(type_, VectorTag):
            return abilities_of_vector(self._abilities(type_.element))
        definition = self._require(type_)
        pairs = zip(type_.type_params, definition.type_parameters, strict=True)
        arguments = [
            self._abilities(argument) for argument, parameter in pairs if not parameter.is_phantom
        ]
        return abilities_of_datatype(int(definition.abilities), arguments)

    def _require(self, tag: StructTag) -> Datatype:
        definition = self.datatype(tag)
        if definition is None:
            raise LinkError(f"type {tag} does not exist")
        if len(definition.type_parameters) != len(tag.type_params):
            raise LinkError(
                f"{definition.tag} takes {len(definition.type_parameters)} type arguments"
            )
        return definition

    # Values

    def encode(self, type_: TypeTag, value: Value) -> bytes:
        """Return the BCS bytes of a value. Raises `LinkError` or `BcsError`."""
        return self._codecs.codec(type_).encode(value)

    def decode(self, type_: TypeTag, data: bytes) -> Value:
        """Return the value of a type from its BCS bytes.

        Raises:
            LinkError: The type does not exist.
            BcsError: The bytes are not exactly one value of the type.
        """
        return self._codecs.codec(type_).decode(data)

    def encoder(self, type_: TypeTag) -> Callable[[Value], bytes]:
        """Return a function that encodes values of a type as BCS. Raises `LinkError`."""
        return self._codecs.codec(type_).encode

    def size(self, type_: Type, value: Value) -> int:
        """Return the number of bytes to charge for a value. Raises `LinkError`."""
        return self._sizes.size(type_, value)

    def sizer(self, type_: Type) -> Sizer:
        """Return a function that measures values of a type. Raises `LinkError`."""
        return self._sizes.sizer(type_)

    def copier(self, type_: Type) -> Copier:
        """Return a function that copies a type's values and charges for it. Raises `LinkError`."""
        return copier(self._sizes, type_)

    def depth(self, type_: TypeTag) -> int:
        """Return the nesting depth of a type's values, which is 1 for an integer.

        Raises `MoveFailure`.
        """
        return self._depth.of(type_)

    def _check_depth(self, type_: TypeTag) -> None:
        if self._depth.of(type_) > VALUE_DEPTH_MAX:
            raise PrimitiveError(ErrorKind.VM_MAX_VALUE_DEPTH_REACHED, None, None)
