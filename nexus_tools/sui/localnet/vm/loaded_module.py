"""A module with its names resolved.

A module refers to types by the original id of their package. At run time, the address of a type is
the id of the package version that first defined it, as in the types of on-chain objects.
"""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.bytecode import (
    CompiledModule,
    DatatypeToken,
    FieldDefinition,
    FunctionDefinition,
    Instantiation,
    ReferenceToken,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)
from nexus_tools.sui.localnet.vm.definitions import (
    Datatype,
    Field,
    Function,
    ModuleId,
    ReferenceType,
    Type,
    TypeParameter,
)
from nexus_tools.sui.localnet.vm.errors import InvalidCode
from nexus_tools.sui.localnet.vm.values.serialization import Codecs
from nexus_tools.sui.localnet.vm.values.values import Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag

# A function that maps a type's original id, module and name to its defining id. The function raises
# `LinkError`.
TypeOrigins = Callable[[Address, str, str], Address]


def _no_datatype(tag: StructTag) -> Datatype:
    raise InvalidCode(f"a constant has the type {tag}")


def _any_type(_: TypeTag) -> None:
    """Accept every type, because constants have only primitive and vector types."""


_CONSTANTS = Codecs(_no_datatype, _any_type)


class LoadedModule:
    """A module of one package version. Definitions in the module are resolved at first use."""

    def __init__(self, package: Address, compiled: CompiledModule, origin: TypeOrigins) -> None:
        self.package = package
        self.compiled = compiled
        self.id = ModuleId(Address(compiled.address), compiled.name)
        self._origin = origin
        self._signatures: dict[int, tuple[Type, ...]] = {}
        self._types: dict[SignatureToken, Type] = {}
        self._functions = {
            compiled.function_id(definition.handle)[2]: index
            for index, definition in enumerate(compiled.function_definitions)
        }
        self._structs = {
            compiled.datatype_id(definition.handle)[2]: index
            for index, definition in enumerate(compiled.struct_definitions)
        }
        self._enums = {
            compiled.datatype_id(definition.handle)[2]: index
            for index, definition in enumerate(compiled.enum_definitions)
        }
        self._loaded: dict[tuple[str, int], Function | Datatype] = {}
        self._extension: LoadedModule | None = None
        if len(self._functions) != len(compiled.function_definitions):
            raise InvalidCode(f"module {self.id.name} defines a function twice")

    @property
    def name(self) -> str:
        """The module's name."""
        return self.id.name

    def function(self, name: str) -> Function | None:
        """Return the function with this name, or None."""
        index = self._functions.get(name)
        if index is not None:
            return self.function_at(index)
        return self._extension.function(name) if self._extension else None

    def extend(self, extension: "LoadedModule") -> None:
        """Add another module's functions and types, for example functions that only tests use."""
        self._extension = extension

    def functions(self) -> Iterator[Function]:
        """Return all functions in the order of their definitions."""
        return map(self.function_at, range(len(self.compiled.function_definitions)))

    def function_at(self, index: int) -> Function:
        """Return the function with this definition index."""
        function = self._loaded.get(("function", index))
        if not isinstance(function, Function):
            definition = self.compiled.function_definitions[index]
            function = self._loaded["function", index] = self._load_function(index, definition)
        return function

    def datatype(self, name: str) -> Datatype | None:
        """Return the struct or enum with this name, or None."""
        if name in self._structs:
            return self.struct_at(self._structs[name])
        if name in self._enums:
            return self.enum_at(self._enums[name])
        return self._extension.datatype(name) if self._extension else None

    def datatypes(self) -> Iterator[Datatype]:
        """Yield all structs, then all enums."""
        yield from map(self.struct_at, range(len(self.compiled.struct_definitions)))
        yield from map(self.enum_at, range(len(self.compiled.enum_definitions)))

    def struct_at(self, index: int) -> Datatype:
        """Return the struct with this definition index."""
        struct = self._loaded.get(("struct", index))
        if not isinstance(struct, Datatype):
            definition = self.compiled.struct_definitions[index]
            fields = self._load_fields(definition.fields or ())
            struct = self._loaded["struct", index] = self._load_datatype(
                definition.handle, fields, None
            )
        return struct

    def enum_at(self, index: int) -> Datatype:
        """Return the enum with this definition index."""
        enum = self._loaded.get(("enum", index))
        if not isinstance(enum, Datatype):
            definition = self.compiled.enum_definitions[index]
            variants = tuple(
                [
                    (self.compiled.identifiers[variant.name], self._load_fields(variant.fields))
                    for variant in definition.variants
                ]
            )
            enum = self._loaded["enum", index] = self._load_datatype(
                definition.handle, None, variants
            )
        return enum

    def signature(self, index: int) -> tuple[Type, ...]:
        """Return the resolved types of the signature with this index."""
        types = self._signatures.get(index)
        if types is None:
            tokens = self.compiled.signatures[index]
            types = self._signatures[index] = tuple([self.resolve(token) for token in tokens])
        return types

    def struct_type(self, instantiation: Instantiation) -> StructTag:
        """Return the type of an instantiated struct."""
        return self._instantiate(self.struct_at(instantiation.target), instantiation)

    def enum_type(self, instantiation: Instantiation) -> StructTag:
        """Return the type of an instantiated enum."""
        return self._instantiate(self.enum_at(instantiation.target), instantiation)

    def _instantiate(self, datatype: Datatype, instantiation: Instantiation) -> StructTag:
        arguments = self.signature(instantiation.type_arguments)
        if len(arguments) != len(datatype.type_parameters):
            raise InvalidCode(f"{datatype.tag} is used without its type arguments")
        return replace(datatype.tag, type_params=arguments)  # arguments are not references

    def constant(self, index: int) -> tuple[Type, Value]:
        """Return the type and the value of a constant.

        Raises:
            InvalidCode: The constant has a wrong type, or its bytes are not a value of its type.
        """
        constant = self.compiled.constants[index]
        type_ = self.resolve(constant.type)
        if isinstance(type_, ReferenceType | TypeParameter):
            raise InvalidCode(f"a constant of {self.name} has the type {type_}")
        try:
            return type_, _CONSTANTS.codec(type_).decode(constant.data)
        except BcsError as error:
            raise InvalidCode(f"a constant of {self.name} is not a {type_}: {error}") from error

    def resolve(self, token: SignatureToken) -> Type:
        """Return the type that a signature token of this module represents.

        Raises:
            LinkError: The type does not exist.
        """
        type_ = self._types.get(token)
        if type_ is None:
            type_ = self._types[token] = self._resolve(token)
        return type_

    def _resolve(self, token: SignatureToken) -> Type:
        if isinstance(token, str):
            return Primitive(token)
        if isinstance(token, TypeParameterToken):
            return TypeParameter(token.index)
        if isinstance(token, VectorToken):
            return VectorTag(self._resolve_value(token.element))  # type: ignore[arg-type]
        if isinstance(token, ReferenceToken):
            return ReferenceType(self._resolve_value(token.target), token.mutable)
        return self._resolve_datatype(token)

    def _resolve_value(self, token: SignatureToken) -> Type:
        type_ = self.resolve(token)
        if isinstance(type_, ReferenceType):
            raise InvalidCode(f"a type in {self.id.name} contains a reference")
        return type_

    def _resolve_datatype(self, token: DatatypeToken) -> StructTag:
        address, module, name = self.compiled.datatype_id(token.handle)
        origin = self._origin(Address(address), module, name)
        params = tuple([self._resolve_value(argument) for argument in token.type_arguments])
        return StructTag(origin, module, name, params)  # type: ignore[arg-type]  # no references

    def _load_function(self, index: int, definition: FunctionDefinition) -> Function:
        handle = self.compiled.function_handles[definition.handle]
        return Function(
            package=self.package,
            module=self.id,
            name=self.compiled.identifiers[handle.name],
            index=index,
            visibility=definition.visibility,
            is_entry=definition.is_entry,
            type_parameters=handle.type_parameters,
            parameters=self.signature(handle.parameters),
            returns=self.signature(handle.returns),
            is_native=definition.code is None,
        )

    def _load_datatype(
        self,
        handle: int,
        fields: tuple[Field, ...] | None,
        variants: tuple[tuple[str, tuple[Field, ...]], ...] | None,
    ) -> Datatype:
        row = self.compiled.datatype_handles[handle]
        tag = self._resolve_datatype(DatatypeToken(handle))
        return Datatype(tag, row.abilities, row.type_parameters, fields, variants)

    def _load_fields(self, fields: tuple[FieldDefinition, ...]) -> tuple[Field, ...]:
        names = self.compiled.identifiers
        return tuple([(names[field.name], self.resolve(field.type)) for field in fields])
