"""What published packages define, and the values of the types that they define."""

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
    """Packages by their storage ids, with codecs, sizes and depths of types, worked out once.

    `packages` gives a package, and is asked once for each. `forgotten` is told of a package that is
    taken back, so that nothing goes on with what it defined.
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
        """The package with this storage id, if there is one."""
        found = self._packages.get(package)
        if found is None:
            fetched = self._fetch(package)
            found = None if fetched is None else self._add(fetched)
        return found

    def load(self, package: Address) -> LoadedPackage:
        """The package with this storage id. Raises `LinkError`."""
        found = self.package(package)
        if found is None:
            raise LinkError(f"there is no package {package.short()}")
        return found

    def publish(self, package: MovePackage) -> None:
        """Make a package known that is not committed yet."""
        self.forget(package.id)
        self._add(package)

    def forget(self, package: Address) -> None:
        """Take a package back, with everything that was worked out from it."""
        self._packages.pop(package, None)
        self._codecs.forget()
        self._depth.forget()
        self._sizes.forget()
        self._forgotten(package)

    def _add(self, package: MovePackage) -> LoadedPackage:
        loaded = self._packages[package.id] = LoadedPackage(package, self.load)
        return loaded

    # What packages define

    def modules(self, package: Address) -> Iterator[LoadedModule]:
        """The modules of a package. Raises `LinkError` if there is no such package."""
        return self.load(package).modules()

    def function(self, package: Address, module: str, name: str) -> Function | None:
        """A function of a package that is given by its storage id."""
        loaded = self.package(package)
        found = loaded.module(module) if loaded else None
        return found.function(name) if found else None

    def functions(self, package: Address) -> Iterator[Function]:
        """All functions of a package."""
        for module in self.modules(package):
            yield from module.functions()

    def datatype(self, tag: StructTag) -> Datatype | None:
        """The struct or enum that a type is an instance of."""
        loaded = self.package(tag.address)
        module = loaded.module(tag.module) if loaded else None
        return module.datatype(tag.name) if module else None

    def datatypes(self, package: Address) -> Iterator[Datatype]:
        """All structs and enums of a package."""
        for module in self.modules(package):
            yield from module.datatypes()

    def abilities(self, type_: TypeTag) -> Ability:
        """What values of a type may be used for. Raises `LinkError`."""
        return Ability(self._abilities(type_))

    def _abilities(self, type_: TypeTag) -> int:
        if isinstance(type_, Primitive):
            return SIGNER_ABILITIES if type_ is Primitive.SIGNER else PRIMITIVE_ABILITIES
        if isinstance(type_, VectorTag):
            return abilities_of_vector(self._abilities(type_.element))
        definition = self._require(type_)
        pairs = zip(type_.type_params, definition.type_parameters, strict=True)
        arguments = [self._abilities(each) for each, parameter in pairs if not parameter.is_phantom]
        return abilities_of_datatype(int(definition.abilities), arguments)

    def _require(self, tag: StructTag) -> Datatype:
        found = self.datatype(tag)
        if found is None:
            raise LinkError(f"there is no type {tag}")
        if len(found.type_parameters) != len(tag.type_params):
            raise LinkError(f"{found.tag} takes {len(found.type_parameters)} type arguments")
        return found

    # Values

    def encode(self, type_: TypeTag, value: Value) -> bytes:
        """The BCS bytes of a value. Raises `LinkError` or `BcsError`."""
        return self._codecs.codec(type_).encode(value)

    def decode(self, type_: TypeTag, data: bytes) -> Value:
        """The value of a type that fills the BCS bytes. Raises `LinkError` or `BcsError`."""
        return self._codecs.codec(type_).decode(data)

    def encoder(self, type_: TypeTag) -> Callable[[Value], bytes]:
        """What gives the BCS bytes of values of a type. Raises `LinkError`."""
        return self._codecs.codec(type_).encode

    def size(self, type_: Type, value: Value) -> int:
        """How many bytes a value counts where it is charged by its size. Raises `LinkError`."""
        return self._sizes.size(type_, value)

    def sizer(self, type_: Type) -> Sizer:
        """What gives the size of values of a type. Raises `LinkError`."""
        return self._sizes.sizer(type_)

    def copier(self, type_: Type) -> Copier:
        """What charges for a copy of a value of a type, and makes it. Raises `LinkError`."""
        return copier(self._sizes, type_)

    def depth(self, type_: TypeTag) -> int:
        """How deeply values of a type are nested, 1 for an integer. Raises `MoveFailure`."""
        return self._depth.of(type_)

    def _check_depth(self, type_: TypeTag) -> None:
        if self._depth.of(type_) > VALUE_DEPTH_MAX:
            raise PrimitiveError(ErrorKind.VM_MAX_VALUE_DEPTH_REACHED, None, None)
