"""The row parsers for all tables, such as names, handles, instantiations, and definitions."""

import re
from collections.abc import Callable

from nexus_tools.sui.bytecode.ability import Ability
from nexus_tools.sui.bytecode.format.code import read_code
from nexus_tools.sui.bytecode.format.cursor import Cursor
from nexus_tools.sui.bytecode.format.draft import Draft
from nexus_tools.sui.bytecode.format.file_format import (
    ACQUIRES_COUNT_MAX,
    CONSTANT_SIZE_MAX,
    DECLARED,
    ENTRY_FUNCTION,
    FIELD_COUNT_MAX,
    IDENTIFIER_SIZE_MAX,
    METADATA_KEY_SIZE_MAX,
    METADATA_VALUE_SIZE_MAX,
    NATIVE_FUNCTION,
    NATIVE_STRUCT,
    TYPE_PARAMETER_COUNT_MAX,
    VARIANT_COUNT_MAX,
)
from nexus_tools.sui.bytecode.format.signature import read_token
from nexus_tools.sui.bytecode.module import (
    Code,
    Constant,
    DatatypeHandle,
    DatatypeTypeParameter,
    EnumDefinition,
    FieldDefinition,
    FieldHandle,
    FunctionDefinition,
    FunctionHandle,
    Instantiation,
    Metadata,
    ModuleHandle,
    StructDefinition,
    VariantDefinition,
    VariantHandle,
    Visibility,
)

_IDENTIFIER = re.compile(rb"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+")
_ADDRESS_SIZE = 32
_ABILITIES_MAX = 0xF
_ABILITIES = tuple(Ability(bits) for bits in range(_ABILITIES_MAX + 1))


def is_identifier(name: str) -> bool:
    """Return whether a name is a valid Move identifier.

    The name of a constant need not be an identifier, because bytecode allows any text.
    """
    return name.isascii() and bool(_IDENTIFIER.fullmatch(name.encode()))


def read_identifier(cursor: Cursor, _: Draft) -> str:
    """Read an identifier.

    An identifier has ASCII letters, digits and underscores. The first character is not a digit, and
    `_` alone is not an identifier.
    """
    name = cursor.blob(IDENTIFIER_SIZE_MAX)
    if not _IDENTIFIER.fullmatch(name):
        raise cursor.malformed("an identifier is not a valid Move name")
    return name.decode("ascii")


def read_address(cursor: Cursor, _: Draft) -> bytes:
    """Read an address of 32 bytes."""
    return cursor.take(_ADDRESS_SIZE)


def read_module_handle(cursor: Cursor, draft: Draft) -> ModuleHandle:
    """Read a module handle, which may also be the handle of a friend module."""
    address = cursor.index(len(draft.addresses), "addresses")
    return ModuleHandle(address, cursor.index(len(draft.identifiers), "identifiers"))


def read_datatype_handle(cursor: Cursor, draft: Draft) -> DatatypeHandle:
    """Read a datatype handle with its abilities and type parameters."""
    module = cursor.index(len(draft.module_handles), "module handles")
    name = cursor.index(len(draft.identifiers), "identifiers")
    abilities = _read_abilities(cursor)
    parameters = cursor.repeat(TYPE_PARAMETER_COUNT_MAX, _read_type_parameter)
    return DatatypeHandle(module, name, abilities, parameters)


def read_function_handle(cursor: Cursor, draft: Draft) -> FunctionHandle:
    """Read a function handle, whose signatures must use only the handle's type parameters."""
    module = cursor.index(len(draft.module_handles), "module handles")
    name = cursor.index(len(draft.identifiers), "identifiers")
    parameters = cursor.index(len(draft.signatures), "signatures")
    returns = cursor.index(len(draft.signatures), "signatures")
    type_parameters = cursor.repeat(TYPE_PARAMETER_COUNT_MAX, _read_abilities)
    for signature in (parameters, returns):
        if draft.signature_arities[signature] > len(type_parameters):
            raise cursor.malformed("a function uses a type parameter that it does not have")
    return FunctionHandle(module, name, parameters, returns, type_parameters)


def _read_abilities(cursor: Cursor) -> Ability:
    return _ABILITIES[cursor.uleb(_ABILITIES_MAX)]


def _read_type_parameter(cursor: Cursor) -> DatatypeTypeParameter:
    return DatatypeTypeParameter(_read_abilities(cursor), is_phantom=bool(cursor.uleb(1)))


def read_constant(cursor: Cursor, draft: Draft) -> Constant:
    """Read a constant, without decoding its bytes."""
    token, _ = read_token(cursor, draft)
    return Constant(token, cursor.blob(CONSTANT_SIZE_MAX))


def read_metadata(cursor: Cursor, _: Draft) -> Metadata:
    """Read the key and the value of a metadata entry."""
    key = cursor.blob(METADATA_KEY_SIZE_MAX)
    return Metadata(key, cursor.blob(METADATA_VALUE_SIZE_MAX))


def read_function_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """Read a function handle with type arguments."""
    return _read_instantiation(cursor, draft, len(draft.function_handles), "function handles")


def read_struct_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """Read a struct definition with type arguments."""
    return _read_instantiation(cursor, draft, len(draft.struct_definitions), "struct definitions")


def read_field_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """Read a field handle with the type arguments of its struct."""
    return _read_instantiation(cursor, draft, len(draft.field_handles), "field handles")


def read_enum_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """Read an enum definition with type arguments."""
    return _read_instantiation(cursor, draft, len(draft.enum_definitions), "enum definitions")


def _read_instantiation(cursor: Cursor, draft: Draft, count: int, table: str) -> Instantiation:
    target = cursor.index(count, table)
    return Instantiation(target, cursor.index(len(draft.signatures), "signatures"))


def read_field_handle(cursor: Cursor, draft: Draft) -> FieldHandle:
    """Read a field of a struct of this module."""
    struct = cursor.index(len(draft.struct_definitions), "struct definitions")
    fields = draft.struct_definitions[struct].fields or ()
    return FieldHandle(struct, cursor.index(len(fields), "a struct", FIELD_COUNT_MAX))


def read_variant_handle(cursor: Cursor, draft: Draft) -> VariantHandle:
    """Read a variant of an enum of this module."""
    enum = cursor.index(len(draft.enum_definitions), "enum definitions")
    variants = draft.enum_definitions[enum].variants
    return VariantHandle(enum, cursor.index(len(variants), "an enum", VARIANT_COUNT_MAX - 1))


def read_variant_instantiation(cursor: Cursor, draft: Draft) -> VariantHandle:
    """Read a variant of an instantiated enum of this module."""
    enum = cursor.index(len(draft.enum_instantiations), "enum instantiations")
    variants = draft.enum_definitions[draft.enum_instantiations[enum].target].variants
    return VariantHandle(enum, cursor.index(len(variants), "an enum", VARIANT_COUNT_MAX - 1))


_VISIBILITIES = frozenset(Visibility)


def read_struct_definition(cursor: Cursor, draft: Draft) -> StructDefinition:
    """Read a struct with its fields."""
    handle = cursor.index(len(draft.datatype_handles), "datatype handles")
    flag = cursor.byte()
    if flag == NATIVE_STRUCT:
        return StructDefinition(handle, None)
    if flag != DECLARED:
        raise cursor.malformed(f"unknown kind of struct {flag:#x}")
    return StructDefinition(handle, _read_fields(cursor, draft, handle))


def read_enum_definition(cursor: Cursor, draft: Draft) -> EnumDefinition:
    """Read an enum with at least one variant."""
    handle = cursor.index(len(draft.datatype_handles), "datatype handles")
    flag = cursor.byte()
    if flag != DECLARED:
        raise cursor.malformed(f"unknown kind of enum {flag:#x}")
    variants = tuple(
        [
            VariantDefinition(
                cursor.index(len(draft.identifiers), "identifiers"),
                _read_fields(cursor, draft, handle),
            )
            for _ in range(cursor.uleb(VARIANT_COUNT_MAX))
        ]
    )
    if not variants:
        raise cursor.malformed("an enum has no variants")
    return EnumDefinition(handle, variants)


def _read_fields(cursor: Cursor, draft: Draft, handle: int) -> tuple[FieldDefinition, ...]:
    type_parameters = len(draft.datatype_handles[handle].type_parameters)
    fields = []
    for _ in range(cursor.uleb(FIELD_COUNT_MAX)):
        name = cursor.index(len(draft.identifiers), "identifiers")
        token, arity = read_token(cursor, draft)
        if arity > type_parameters:
            raise cursor.malformed("a field uses a type parameter that its datatype does not have")
        fields.append(FieldDefinition(name, token))
    return tuple(fields)


def read_function_definition(
    cursor: Cursor, draft: Draft, read: Callable[[Cursor, Draft, int], Code] = read_code
) -> FunctionDefinition:
    """Read a function definition. If the function is not native, `read` reads its code."""
    handle = cursor.index(len(draft.function_handles), "function handles")
    visibility = cursor.byte()
    if visibility not in _VISIBILITIES:
        raise cursor.malformed(f"unknown visibility {visibility:#x}")
    flags = cursor.byte()
    if flags & ~(NATIVE_FUNCTION | ENTRY_FUNCTION):
        raise cursor.malformed(f"a function has unknown flags {flags:#x}")
    acquires = cursor.repeat(
        ACQUIRES_COUNT_MAX,
        lambda cursor: cursor.index(len(draft.struct_definitions), "struct definitions"),
    )
    code = None if flags & NATIVE_FUNCTION else read(cursor, draft, handle)
    is_entry = bool(flags & ENTRY_FUNCTION)
    return FunctionDefinition(handle, Visibility(visibility), is_entry, acquires, code)
