"""Reading what a module defines: structs, enums and functions."""

from collections.abc import Callable

from nexus_tools.localnet.bytecode.code import read_code
from nexus_tools.localnet.bytecode.cursor import Cursor
from nexus_tools.localnet.bytecode.draft import Draft
from nexus_tools.localnet.bytecode.limits import (
    ACQUIRES_COUNT_MAX,
    FIELD_COUNT_MAX,
    VARIANT_COUNT_MAX,
)
from nexus_tools.localnet.bytecode.module import (
    Code,
    EnumDefinition,
    FieldDefinition,
    FunctionDefinition,
    StructDefinition,
    VariantDefinition,
    Visibility,
)
from nexus_tools.localnet.bytecode.signature import read_token

_NATIVE_STRUCT = 0x1
_DECLARED = 0x2
_NATIVE_FUNCTION = 0x2
_ENTRY_FUNCTION = 0x4
_VISIBILITIES = frozenset(Visibility)


def read_struct_definition(cursor: Cursor, draft: Draft) -> StructDefinition:
    """A struct with its fields."""
    handle = cursor.index(len(draft.datatype_handles), "datatype handles")
    flag = cursor.byte()
    if flag == _NATIVE_STRUCT:
        return StructDefinition(handle, None)
    if flag != _DECLARED:
        raise cursor.malformed(f"there is no kind of struct {flag:#x}")
    return StructDefinition(handle, _read_fields(cursor, draft, handle))


def read_enum_definition(cursor: Cursor, draft: Draft) -> EnumDefinition:
    """An enum with its variants, of which it has at least one."""
    handle = cursor.index(len(draft.datatype_handles), "datatype handles")
    flag = cursor.byte()
    if flag != _DECLARED:
        raise cursor.malformed(f"there is no kind of enum {flag:#x}")
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
    """A function with its code, unless it is native; `read` gives the code."""
    handle = cursor.index(len(draft.function_handles), "function handles")
    visibility = cursor.byte()
    if visibility not in _VISIBILITIES:
        raise cursor.malformed(f"there is no visibility {visibility:#x}")
    flags = cursor.byte()
    if flags & ~(_NATIVE_FUNCTION | _ENTRY_FUNCTION):
        raise cursor.malformed(f"a function has unknown flags {flags:#x}")
    acquires = cursor.repeat(
        ACQUIRES_COUNT_MAX,
        lambda cursor: cursor.index(len(draft.struct_definitions), "struct definitions"),
    )
    code = None if flags & _NATIVE_FUNCTION else read(cursor, draft, handle)
    is_entry = bool(flags & _ENTRY_FUNCTION)
    return FunctionDefinition(handle, Visibility(visibility), is_entry, acquires, code)
