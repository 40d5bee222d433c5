"""The declarations of a package, from its bytecode and, where available, its sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from nexus_tools.sui.bindings.generator.errors import read_errors
from nexus_tools.sui.bindings.generator.move_types import (
    MoveType,
    NamedType,
    Reference,
    contained_types,
    move_text,
    named_types,
)
from nexus_tools.sui.bindings.generator.parameter_names import parameter_names
from nexus_tools.sui.bindings.generator.type_rules import check_types, takes_signer
from nexus_tools.sui.bindings.runtime import MoveError
from nexus_tools.sui.bytecode import (
    Ability,
    CompiledModule,
    DatatypeHandle,
    EnumDefinition,
    FieldDefinition,
    FunctionDefinition,
    Opcode,
    StructDefinition,
    Visibility,
    deserialize,
    is_identifier,
)
from nexus_tools.sui.move_source import (
    SourceEnum,
    SourceField,
    SourceFunction,
    SourceModule,
    SourceStruct,
    read_modules,
)
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address

_EMIT = (SUI_FRAMEWORK, "event", "emit")


class TypeParameter(Struct, frozen=True):
    """A type parameter. Fields use a phantom type parameter only as a phantom type argument."""

    name: str
    constraints: Ability
    is_phantom: bool = False


class FieldContents(Struct, frozen=True):
    """A field of a struct or a variant."""

    name: str
    type: MoveType
    doc: str


class StructContents(Struct, frozen=True):
    """A struct. `is_event` is True if the struct's module emits the struct as an event."""

    name: str
    doc: str
    abilities: Ability
    type_parameters: tuple[TypeParameter, ...]
    fields: tuple[FieldContents, ...]
    is_event: bool

    @property
    def types(self) -> tuple[MoveType, ...]:
        """The types of the fields."""
        return tuple(field.type for field in self.fields)


class VariantContents(Struct, frozen=True):
    """A variant of an enum."""

    name: str
    doc: str
    fields: tuple[FieldContents, ...]

    @property
    def types(self) -> tuple[MoveType, ...]:
        """The types of the fields."""
        return tuple(field.type for field in self.fields)


class EnumContents(Struct, frozen=True):
    """An enum."""

    name: str
    doc: str
    type_parameters: tuple[TypeParameter, ...]
    variants: tuple[VariantContents, ...]

    @property
    def types(self) -> tuple[MoveType, ...]:
        """The types of the fields of all variants."""
        return tuple(type_ for variant in self.variants for type_ in variant.types)


class FunctionContents(Struct, frozen=True):
    """A function that a transaction can call. `parameters` are pairs of a name and a type."""

    name: str
    doc: str
    type_parameters: tuple[TypeParameter, ...]
    parameters: tuple[tuple[str, MoveType], ...]
    returns: tuple[MoveType, ...]

    @property
    def signature(self) -> str:
        """The signature in Move syntax, without the names of parameters."""
        names = [type_parameter.name for type_parameter in self.type_parameters]
        parameters = ", ".join(move_text(parameter, names) for _, parameter in self.parameters)
        types = f"<{', '.join(names)}>" if names else ""
        returns = self.returned_text
        return f"{self.name}{types}({parameters}){f': {returns}' if returns else ''}"

    @property
    def returned_text(self) -> str:
        """The return type in Move syntax."""
        names = [type_parameter.name for type_parameter in self.type_parameters]
        texts = [move_text(return_, names) for return_ in self.returns]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})" if texts else ""

    @property
    def returns_reference(self) -> bool:
        """Whether the function returns a reference."""
        return any(isinstance(return_, Reference) for return_ in self.returns)


class ModuleContents(Struct, frozen=True):
    """The declarations of a module."""

    name: str
    doc: str
    structs: tuple[StructContents, ...]
    enums: tuple[EnumContents, ...]
    errors: tuple[MoveError, ...]
    functions: tuple[FunctionContents, ...]

    @property
    def datatypes(self) -> "tuple[StructContents | EnumContents, ...]":
        """The structs and then the enums of the module."""
        return (*self.structs, *self.enums)

    def definition(self, named: NamedType) -> "StructContents | EnumContents | None":
        """Return the declaration of a type.

        The result is None if the module does not declare the type, or declares it with different
        type parameters.
        """
        definition = next(
            (datatype for datatype in self.datatypes if datatype.name == named.name), None
        )
        if definition is None or len(definition.type_parameters) != len(named.arguments):
            return None
        takes = [
            at
            for at, type_parameter in enumerate(definition.type_parameters)
            if not type_parameter.is_phantom
        ]
        return definition if takes == list(named.takes) else None

    def held_types(self) -> Iterator[NamedType]:
        """Yield the structs and enums that the fields of the module's datatypes contain."""
        for datatype in self.datatypes:
            for move_type in datatype.types:
                yield from contained_types(move_type)


def read_contents(
    modules: Iterable[bytes], sources: Mapping[str, str]
) -> dict[Address, list[ModuleContents]]:
    """Return the declarations of the modules, grouped by the address of their package.

    `sources` maps file paths to Move source text. The sources may contain additional modules.

    The bytecode determines which declarations exist. Sources only add doc comments and the names of
    parameters and type parameters. If source and bytecode have different numbers of parameters, the
    names from the source are not used.
    """
    source_modules = {
        module.name: module for text in sources.values() for module in read_modules(text)
    }
    contents: dict[Address, list[ModuleContents]] = {}
    for data in modules:
        module = deserialize(data)
        reader = _Reader(module, source_modules.get(module.name))
        contents.setdefault(Address(module.address), []).append(reader.read())
    return contents


class _Reader:
    def __init__(self, module: CompiledModule, source: SourceModule | None) -> None:
        self._module = module
        self._source = source
        self._structs = {struct.name: struct for struct in source.structs} if source else {}
        self._enums = {enum.name: enum for enum in source.enums} if source else {}
        self._functions = (
            {function.name: function for function in source.functions} if source else {}
        )

    def read(self) -> ModuleContents:
        module = self._module
        check_types(module)
        emitted = set(_emitted(module))
        return ModuleContents(
            module.name,
            self._source.doc if self._source else "",
            tuple(
                self._struct(struct_definition, emitted)
                for struct_definition in module.struct_definitions
            ),
            tuple(self._enum(enum_definition) for enum_definition in module.enum_definitions),
            tuple(read_errors(module, self._source)),
            tuple(
                self._function(function_definition)
                for function_definition in module.function_definitions
                if self._is_open(function_definition)
            ),
        )

    def _is_open(self, function: FunctionDefinition) -> bool:
        """Return whether a transaction can call the function."""
        handle = self._module.function_handles[function.handle]
        is_callable = function.visibility is Visibility.PUBLIC or function.is_entry
        return is_callable and not takes_signer(self._module, handle.parameters)

    # --- Types

    def _struct(self, definition: StructDefinition, emitted: set[str]) -> StructContents:
        handle = self._module.datatype_handles[definition.handle]
        name = self._module.identifiers[handle.name]
        source = self._structs.get(name)
        fields = self._fields(definition.fields or (), source.fields if source else ())
        return StructContents(
            name,
            source.doc if source else "",
            handle.abilities,
            _type_parameters(handle, source),
            fields,
            name in emitted,
        )

    def _enum(self, definition: EnumDefinition) -> EnumContents:
        handle = self._module.datatype_handles[definition.handle]
        name = self._module.identifiers[handle.name]
        source = self._enums.get(name)
        source_variants = {variant.name: variant for variant in source.variants} if source else {}
        variants = []
        for variant_definition in definition.variants:
            variant = self._module.identifiers[variant_definition.name]
            words = source_variants.get(variant)
            fields = self._fields(variant_definition.fields, words.fields if words else ())
            variants.append(VariantContents(variant, words.doc if words else "", fields))
        doc = source.doc if source else ""
        return EnumContents(name, doc, _type_parameters(handle, source), tuple(variants))

    def _fields(
        self, fields: Sequence[FieldDefinition], written: Sequence[SourceField]
    ) -> tuple[FieldContents, ...]:
        """Return a struct's fields, without the field that the compiler adds to an empty struct.

        The compiler gives `struct Witness has drop {}` the field `dummy_field: bool`.
        """
        docs = (
            [field.doc for field in written] if len(written) == len(fields) else [""] * len(fields)
        )
        return tuple(
            FieldContents(
                self._module.identifiers[field.name], named_types(self._module, field.type), doc
            )
            for field, doc in zip(fields, docs, strict=True)
        )

    # --- Functions

    def _function(self, definition: FunctionDefinition) -> FunctionContents:
        module = self._module
        handle = module.function_handles[definition.handle]
        name = module.identifiers[handle.name]
        source = self._functions.get(name)
        types = [named_types(module, token) for token in module.signatures[handle.parameters]]
        names = _type_names(len(handle.type_parameters), source)
        return FunctionContents(
            name,
            source.doc if source else "",
            tuple(map(TypeParameter, names, handle.type_parameters)),
            tuple(zip(_names(types, source), types, strict=True)),
            tuple(named_types(module, token) for token in module.signatures[handle.returns]),
        )


def _names(types: Sequence[MoveType], source: SourceFunction | None) -> tuple[str, ...]:
    source_names = [parameter.name for parameter in source.parameters] if source else []
    if len(source_names) != len(types):
        source_names = [""] * len(types)
    return parameter_names(types, [name if is_identifier(name) else "" for name in source_names])


def _type_parameters(
    handle: DatatypeHandle, source: SourceStruct | SourceEnum | None
) -> tuple[TypeParameter, ...]:
    names = _type_names(len(handle.type_parameters), source)
    return tuple(
        TypeParameter(name, parameter.constraints, parameter.is_phantom)
        for name, parameter in zip(names, handle.type_parameters, strict=True)
    )


def _type_names(
    count: int, source: SourceStruct | SourceEnum | SourceFunction | None
) -> tuple[str, ...]:
    source_parameters = source.type_parameters if source else ()
    if len(source_parameters) == len(set(source_parameters)) == count and all(
        map(is_identifier, source_parameters)
    ):
        return source_parameters
    return tuple(f"T{index}" for index in range(count))


def _emitted(module: CompiledModule) -> Iterator[str]:
    """Yield the names of the structs that a module emits as events."""
    for function in module.function_definitions:
        for instruction in function.code.instructions if function.code else ():
            if instruction.opcode is not Opcode.CALL_GENERIC:
                continue
            assert isinstance(instruction.operand, int)
            instantiation = module.function_instantiations[instruction.operand]
            if module.function_id(instantiation.target) == _EMIT:
                # An unverified module may call `emit` with any number of types.
                for kind in module.signatures[instantiation.type_arguments]:
                    move_type = named_types(module, kind)
                    if isinstance(move_type, NamedType) and move_type.module == module.name:
                        yield move_type.name
