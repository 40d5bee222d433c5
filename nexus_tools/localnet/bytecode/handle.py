"""Reading the rows that name things: identifiers, addresses, handles, instantiations."""

import re

from nexus_tools.localnet.bytecode.cursor import Cursor
from nexus_tools.localnet.bytecode.draft import Draft
from nexus_tools.localnet.bytecode.limits import (
    CONSTANT_SIZE_MAX,
    FIELD_COUNT_MAX,
    IDENTIFIER_SIZE_MAX,
    METADATA_KEY_SIZE_MAX,
    METADATA_VALUE_SIZE_MAX,
    TYPE_PARAMETER_COUNT_MAX,
    VARIANT_COUNT_MAX,
)
from nexus_tools.localnet.bytecode.module import (
    Ability,
    Constant,
    DatatypeHandle,
    DatatypeTypeParameter,
    FieldHandle,
    FunctionHandle,
    Instantiation,
    Metadata,
    ModuleHandle,
    VariantHandle,
)
from nexus_tools.localnet.bytecode.signature import read_token

_IDENTIFIER = re.compile(rb"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+")
_ADDRESS_SIZE = 32
_ABILITIES_MAX = 0xF
_ABILITIES = tuple(Ability(bits) for bits in range(_ABILITIES_MAX + 1))


def read_identifier(cursor: Cursor, _: Draft) -> str:
    """A name: ASCII letters, digits and underscores, neither a digit first nor `_` alone."""
    name = cursor.blob(IDENTIFIER_SIZE_MAX)
    if not _IDENTIFIER.fullmatch(name):
        raise cursor.malformed("an identifier is no Move name")
    return name.decode("ascii")


def read_address(cursor: Cursor, _: Draft) -> bytes:
    """An address of 32 bytes."""
    return cursor.take(_ADDRESS_SIZE)


def read_module_handle(cursor: Cursor, draft: Draft) -> ModuleHandle:
    """A module handle; friends are written in the same way."""
    address = cursor.index(len(draft.addresses), "addresses")
    return ModuleHandle(address, cursor.index(len(draft.identifiers), "identifiers"))


def read_datatype_handle(cursor: Cursor, draft: Draft) -> DatatypeHandle:
    """A datatype handle with its abilities and type parameters."""
    module = cursor.index(len(draft.module_handles), "module handles")
    name = cursor.index(len(draft.identifiers), "identifiers")
    abilities = _read_abilities(cursor)
    parameters = cursor.repeat(TYPE_PARAMETER_COUNT_MAX, _read_type_parameter)
    return DatatypeHandle(module, name, abilities, parameters)


def read_function_handle(cursor: Cursor, draft: Draft) -> FunctionHandle:
    """A function handle; its signatures use no type parameters but its own."""
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
    """A constant. Its bytes are not decoded here."""
    token, _ = read_token(cursor, draft)
    return Constant(token, cursor.blob(CONSTANT_SIZE_MAX))


def read_metadata(cursor: Cursor, _: Draft) -> Metadata:
    """A key and its value."""
    key = cursor.blob(METADATA_KEY_SIZE_MAX)
    return Metadata(key, cursor.blob(METADATA_VALUE_SIZE_MAX))


def read_function_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """A function handle with type arguments."""
    return _read_instantiation(cursor, draft, len(draft.function_handles), "function handles")


def read_struct_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """A struct definition with type arguments."""
    return _read_instantiation(cursor, draft, len(draft.struct_definitions), "struct definitions")


def read_field_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """A field handle with the type arguments of its struct."""
    return _read_instantiation(cursor, draft, len(draft.field_handles), "field handles")


def read_enum_instantiation(cursor: Cursor, draft: Draft) -> Instantiation:
    """An enum definition with type arguments."""
    return _read_instantiation(cursor, draft, len(draft.enum_definitions), "enum definitions")


def _read_instantiation(cursor: Cursor, draft: Draft, count: int, table: str) -> Instantiation:
    target = cursor.index(count, table)
    return Instantiation(target, cursor.index(len(draft.signatures), "signatures"))


def read_field_handle(cursor: Cursor, draft: Draft) -> FieldHandle:
    """A field of a struct of this module."""
    struct = cursor.index(len(draft.struct_definitions), "struct definitions")
    fields = draft.struct_definitions[struct].fields or ()
    return FieldHandle(struct, cursor.index(len(fields), "a struct", FIELD_COUNT_MAX))


def read_variant_handle(cursor: Cursor, draft: Draft) -> VariantHandle:
    """A variant of an enum of this module."""
    enum = cursor.index(len(draft.enum_definitions), "enum definitions")
    variants = draft.enum_definitions[enum].variants
    return VariantHandle(enum, cursor.index(len(variants), "an enum", VARIANT_COUNT_MAX - 1))


def read_variant_instantiation(cursor: Cursor, draft: Draft) -> VariantHandle:
    """A variant of an instantiated enum of this module."""
    enum = cursor.index(len(draft.enum_instantiations), "enum instantiations")
    variants = draft.enum_definitions[draft.enum_instantiations[enum].target].variants
    return VariantHandle(enum, cursor.index(len(variants), "an enum", VARIANT_COUNT_MAX - 1))
