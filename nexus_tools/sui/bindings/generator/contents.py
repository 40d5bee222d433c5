"""What a package has: from its bytecode, with the words of its sources where they are at hand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from nexus_tools.sui.bindings.generator.errors import read_errors
from nexus_tools.sui.bindings.generator.move_types import (
    MoveType,
    Named,
    Reference,
    held_types,
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
    """A type parameter; a phantom one is in no field."""

    name: str
    constraints: Ability
    is_phantom: bool = False


class FieldContents(Struct, frozen=True):
    """A field of a struct or a variant."""

    name: str
    type: MoveType
    doc: str


class StructContents(Struct, frozen=True):
    """A struct; `is_event` says that its module emits it."""

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
        return tuple(each for variant in self.variants for each in variant.types)


class FunctionContents(Struct, frozen=True):
    """A function that a transaction may call; parameters by name and type."""

    name: str
    doc: str
    type_parameters: tuple[TypeParameter, ...]
    parameters: tuple[tuple[str, MoveType], ...]
    returns: tuple[MoveType, ...]

    @property
    def signature(self) -> str:
        """As Move sources write it, without the names of parameters."""
        names = [each.name for each in self.type_parameters]
        parameters = ", ".join(move_text(each, names) for _, each in self.parameters)
        types = f"<{', '.join(names)}>" if names else ""
        returns = self.returned_text
        return f"{self.name}{types}({parameters}){f': {returns}' if returns else ''}"

    @property
    def returned_text(self) -> str:
        """What it returns, as Move sources write it."""
        names = [each.name for each in self.type_parameters]
        texts = [move_text(each, names) for each in self.returns]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})" if texts else ""

    @property
    def returns_reference(self) -> bool:
        """Whether what it returns is only lent."""
        return any(isinstance(each, Reference) for each in self.returns)


class ModuleContents(Struct, frozen=True):
    """A module."""

    name: str
    doc: str
    structs: tuple[StructContents, ...]
    enums: tuple[EnumContents, ...]
    errors: tuple[MoveError, ...]
    functions: tuple[FunctionContents, ...]

    @property
    def datatypes(self) -> "tuple[StructContents | EnumContents, ...]":
        """Its structs, then its enums."""
        return (*self.structs, *self.enums)

    def definition(self, named: Named) -> "StructContents | EnumContents | None":
        """Return the struct or the enum, or None unless it has as many type parameters."""
        found = next((each for each in self.datatypes if each.name == named.name), None)
        if found is None or len(found.type_parameters) != len(named.arguments):
            return None
        takes = [at for at, each in enumerate(found.type_parameters) if not each.is_phantom]
        return found if takes == list(named.takes) else None

    def held(self) -> Iterator[Named]:
        """The structs and enums in fields."""
        for each in self.datatypes:
            for move_type in each.types:
                yield from held_types(move_type)


def read_contents(
    modules: Iterable[bytes], sources: Mapping[str, str]
) -> dict[Address, list[ModuleContents]]:
    """What modules have, by the address of their package and in their order.

    `sources` are path -> text; those of other modules do no harm.

    The bytecode decides what there is. Sources only add what it has not: comments, the names of
    parameters and of type parameters; where theirs do not fit in number, they are of other code.
    """
    written = {module.name: module for text in sources.values() for module in read_modules(text)}
    found: dict[Address, list[ModuleContents]] = {}
    for data in modules:
        module = deserialize(data)
        reader = _Reader(module, written.get(module.name))
        found.setdefault(Address(module.address), []).append(reader.read())
    return found


class _Reader:
    def __init__(self, module: CompiledModule, source: SourceModule | None) -> None:
        self._module = module
        self._source = source
        self._structs = {each.name: each for each in source.structs} if source else {}
        self._enums = {each.name: each for each in source.enums} if source else {}
        self._functions = {each.name: each for each in source.functions} if source else {}

    def read(self) -> ModuleContents:
        module = self._module
        check_types(module)
        emitted = set(_emitted(module))
        return ModuleContents(
            module.name,
            self._source.doc if self._source else "",
            tuple(self._struct(each, emitted) for each in module.struct_definitions),
            tuple(self._enum(each) for each in module.enum_definitions),
            tuple(read_errors(module, self._source)),
            tuple(
                self._function(each) for each in module.function_definitions if self._is_open(each)
            ),
        )

    def _is_open(self, function: FunctionDefinition) -> bool:
        """Return whether a transaction may call the function."""
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
        written = {each.name: each for each in source.variants} if source else {}
        variants = []
        for each in definition.variants:
            variant = self._module.identifiers[each.name]
            words = written.get(variant)
            fields = self._fields(each.fields, words.fields if words else ())
            variants.append(VariantContents(variant, words.doc if words else "", fields))
        doc = source.doc if source else ""
        return EnumContents(name, doc, _type_parameters(handle, source), tuple(variants))

    def _fields(
        self, fields: Sequence[FieldDefinition], written: Sequence[SourceField]
    ) -> tuple[FieldContents, ...]:
        """Those of a struct without fields are one that its sources do not have.

        The compiler gives `struct Witness has drop {}` the field `dummy_field: bool`.
        """
        docs = [each.doc for each in written] if len(written) == len(fields) else [""] * len(fields)
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
        types = [named_types(module, each) for each in module.signatures[handle.parameters]]
        names = _type_names(len(handle.type_parameters), source)
        return FunctionContents(
            name,
            source.doc if source else "",
            tuple(map(TypeParameter, names, handle.type_parameters)),
            tuple(zip(_names(types, source), types, strict=True)),
            tuple(named_types(module, each) for each in module.signatures[handle.returns]),
        )


def _names(types: Sequence[MoveType], source: SourceFunction | None) -> tuple[str, ...]:
    written = [each.name for each in source.parameters] if source else []
    if len(written) != len(types):
        written = [""] * len(types)
    return parameter_names(types, [each if is_identifier(each) else "" for each in written])


def _type_parameters(
    handle: DatatypeHandle, source: SourceStruct | SourceEnum | None
) -> tuple[TypeParameter, ...]:
    names = _type_names(len(handle.type_parameters), source)
    return tuple(
        TypeParameter(name, each.constraints, each.is_phantom)
        for name, each in zip(names, handle.type_parameters, strict=True)
    )


def _type_names(
    count: int, source: SourceStruct | SourceEnum | SourceFunction | None
) -> tuple[str, ...]:
    written = source.type_parameters if source else ()
    if len(written) == len(set(written)) == count and all(map(is_identifier, written)):
        return written
    return tuple(f"T{place}" for place in range(count))


def _emitted(module: CompiledModule) -> Iterator[str]:
    """The structs of a module that it emits as events."""
    for function in module.function_definitions:
        for instruction in function.code.instructions if function.code else ():
            if instruction.opcode is not Opcode.CALL_GENERIC:
                continue
            assert isinstance(instruction.operand, int)
            called = module.function_instantiations[instruction.operand]
            if module.function_id(called.target) == _EMIT:
                # Modules of others need not be verified: `emit` may have any number of types here.
                for kind in module.signatures[called.type_arguments]:
                    move_type = named_types(module, kind)
                    if isinstance(move_type, Named) and move_type.module == module.name:
                        yield move_type.name
