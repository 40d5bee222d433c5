"""The parser of a function's code, which consists of instructions and jump tables.

The parser checks all operands, so users of the module need not check them. Each index must refer to
an existing row, each branch target must be inside the function, and each type parameter must be
declared. `read_code` parses the code immediately. `lazy_code` parses the code at its first use.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec import Struct

from nexus_tools.sui.bytecode.format.cursor import Cursor
from nexus_tools.sui.bytecode.format.draft import Draft
from nexus_tools.sui.bytecode.format.file_format import (
    BYTECODE_COUNT_MAX,
    FULL_JUMP_TABLE,
    JUMP_TABLE_COUNT_MAX,
    LOCAL_INDEX_MAX,
    LOCALS_COUNT_MAX,
    TABLE_INDEX_MAX,
    VARIANT_COUNT_MAX,
    VARIANT_HANDLE_INDEX_MAX,
    VERSION_6,
    VERSION_7,
)
from nexus_tools.sui.bytecode.module import (
    Code,
    Instantiation,
    Instruction,
    JumpTable,
    VecOperand,
)
from nexus_tools.sui.bytecode.opcode import LITERAL_BYTES, OPERAND_KINDS, Opcode, OperandKind


class _Function(Struct, frozen=True):
    """The properties of a function that the parser needs to check the function's operands."""

    draft: Draft
    type_parameters: int
    locals: int
    instructions: int


_Reader = Callable[[Cursor, _Function], int | VecOperand]


def read_code(cursor: Cursor, draft: Draft, handle: int) -> Code:
    """Return the code of the function with this handle."""
    function_handle = draft.function_handles[handle]
    local_types = cursor.index(len(draft.signatures), "signatures")
    type_parameters = len(function_handle.type_parameters)
    if draft.signature_arities[local_types] > type_parameters:
        raise cursor.malformed("a local variable uses an undeclared type parameter")
    parameters = draft.signatures[function_handle.parameters]
    local_count = len(parameters) + len(draft.signatures[local_types])
    if local_count > LOCALS_COUNT_MAX:
        raise cursor.malformed(f"a function has {local_count} locals: more than {LOCALS_COUNT_MAX}")
    count = cursor.uleb(BYTECODE_COUNT_MAX)
    function = _Function(draft, type_parameters, local_count, count)
    instructions = tuple([_read_instruction(cursor, function) for _ in range(count)])
    jump_tables = _read_jump_tables(cursor, function)
    _check_switches(cursor, instructions, jump_tables)
    return Code(local_types, instructions, jump_tables)


def _read_instruction(cursor: Cursor, function: _Function) -> Instruction:
    number = cursor.byte()
    if number in _PLAIN:
        instruction = _PLAIN[number]
    elif number in _OPERANDS:
        instruction = Instruction(_OPCODES[number], _OPERANDS[number](cursor, function))
    else:
        raise cursor.malformed(f"unknown instruction {number:#x}")
    if function.draft.version < _SINCE.get(number, 0):
        raise cursor.malformed(f"the instruction {instruction.opcode.name} needs a newer version")
    return instruction


def _read_jump_tables(cursor: Cursor, function: _Function) -> tuple[JumpTable, ...]:
    if function.draft.version < VERSION_7:
        return ()
    return cursor.repeat(JUMP_TABLE_COUNT_MAX, lambda cursor: _read_jump_table(cursor, function))


def _read_jump_table(cursor: Cursor, function: _Function) -> JumpTable:
    enums = function.draft.enum_definitions
    enum = cursor.index(len(enums), "enum definitions")
    count = cursor.uleb(VARIANT_COUNT_MAX)
    if count != len(enums[enum].variants):
        raise cursor.malformed("a jump table does not have one branch for each variant")
    if cursor.byte() != FULL_JUMP_TABLE:
        raise cursor.malformed("unknown kind of jump table")
    return JumpTable(enum, tuple([_branch(cursor, function) for _ in range(count)]))


def _check_switches(
    cursor: Cursor, instructions: Sequence[Instruction], jump_tables: Sequence[JumpTable]
) -> None:
    """Check that the jump table of each VARIANT_SWITCH exists.

    The jump tables come after the instructions, so this check needs a second pass.
    """
    for instruction in instructions:
        if instruction.opcode is Opcode.VARIANT_SWITCH:
            assert isinstance(instruction.operand, int)
            if instruction.operand >= len(jump_tables):
                raise cursor.malformed(f"jump table {instruction.operand} does not exist")


def _literal(size: int) -> _Reader:
    return lambda cursor, _: cursor.little_endian(size)


def _branch(cursor: Cursor, function: _Function) -> int:
    return cursor.index(function.instructions, "the code")


def _local(cursor: Cursor, function: _Function) -> int:
    return cursor.index(function.locals, "the locals", LOCAL_INDEX_MAX)


def _constant(cursor: Cursor, function: _Function) -> int:
    return cursor.index(len(function.draft.constants), "constants")


def _field(cursor: Cursor, function: _Function) -> int:
    return cursor.index(len(function.draft.field_handles), "field handles")


def _function(cursor: Cursor, function: _Function) -> int:
    return cursor.index(len(function.draft.function_handles), "function handles")


def _struct(cursor: Cursor, function: _Function) -> int:
    return cursor.index(len(function.draft.struct_definitions), "struct definitions")


def _variant(cursor: Cursor, function: _Function) -> int:
    count = len(function.draft.variant_handles)
    return cursor.index(count, "variant handles", VARIANT_HANDLE_INDEX_MAX)


def _jump_table(cursor: Cursor, _: _Function) -> int:
    return cursor.uleb(JUMP_TABLE_COUNT_MAX)


def _field_generic(cursor: Cursor, function: _Function) -> int:
    return _instantiation(cursor, function, function.draft.field_instantiations)


def _function_generic(cursor: Cursor, function: _Function) -> int:
    return _instantiation(cursor, function, function.draft.function_instantiations)


def _struct_generic(cursor: Cursor, function: _Function) -> int:
    return _instantiation(cursor, function, function.draft.struct_instantiations)


def _variant_generic(cursor: Cursor, function: _Function) -> int:
    draft = function.draft
    count = len(draft.variant_instantiations)
    index = cursor.index(count, "variant instantiations", VARIANT_HANDLE_INDEX_MAX)
    enum = draft.enum_instantiations[draft.variant_instantiations[index].enum]
    _check_type_arguments(cursor, function, enum.type_arguments)
    return index


def _instantiation(cursor: Cursor, function: _Function, table: Sequence[Instantiation]) -> int:
    index = cursor.index(len(table), "instantiations")
    _check_type_arguments(cursor, function, table[index].type_arguments)
    return index


def _check_type_arguments(cursor: Cursor, function: _Function, signature: int) -> None:
    if function.draft.signature_arities[signature] > function.type_parameters:
        raise cursor.malformed("the function does not declare the type parameter")


def _element(cursor: Cursor, function: _Function) -> int:
    signature = cursor.index(len(function.draft.signatures), "signatures")
    _check_type_arguments(cursor, function, signature)
    return signature


def _elements(cursor: Cursor, function: _Function) -> VecOperand:
    return VecOperand(_element(cursor, function), cursor.little_endian(8))


# The parsers of operands by kind. Literals are parsed elsewhere: their size depends on the opcode.
_READERS: dict[OperandKind, _Reader] = {
    OperandKind.BRANCH: _branch,
    OperandKind.JUMP_TABLE: _jump_table,
    OperandKind.LOCAL: _local,
    OperandKind.ELEMENT: _element,
    OperandKind.ELEMENTS: _elements,
    OperandKind.CONSTANT: _constant,
    OperandKind.FIELD: _field,
    OperandKind.FIELD_INSTANTIATION: _field_generic,
    OperandKind.FUNCTION: _function,
    OperandKind.FUNCTION_INSTANTIATION: _function_generic,
    OperandKind.STRUCT: _struct,
    OperandKind.STRUCT_INSTANTIATION: _struct_generic,
    OperandKind.VARIANT: _variant,
    OperandKind.VARIANT_INSTANTIATION: _variant_generic,
}
_OPERANDS: dict[int, _Reader] = {
    **{opcode: _READERS[kind] for opcode, kind in OPERAND_KINDS.items() if kind in _READERS},
    **{opcode: _literal(size) for opcode, size in LITERAL_BYTES.items()},
}
_OPCODES = {int(opcode): opcode for opcode in Opcode}
# Instructions without an operand are shared, so each opcode has one `Instruction`.
_PLAIN = {int(opcode): Instruction(opcode) for opcode in Opcode if opcode not in OPERAND_KINDS}
_SINCE: dict[int, int] = {
    Opcode.LD_U16: VERSION_6,
    Opcode.LD_U32: VERSION_6,
    Opcode.LD_U256: VERSION_6,
    Opcode.CAST_U16: VERSION_6,
    Opcode.CAST_U32: VERSION_6,
    Opcode.CAST_U256: VERSION_6,
    **{opcode: VERSION_7 for opcode in Opcode if opcode >= Opcode.PACK_VARIANT},
}


# --- Code that is parsed at its first use

_ULEB_GOES_ON = 0x80
# The number of bytes of each operand, not counting a ULEB128 index. The operand of VEC_PACK and
# VEC_UNPACK is an index and a length of 8 bytes.
_FIXED_BYTES: dict[int, int] = dict(LITERAL_BYTES.items())
_FIXED_BYTES |= {Opcode.VEC_PACK: 8, Opcode.VEC_UNPACK: 8}
_WITH_INDEX = frozenset(map(int, OPERAND_KINDS.keys() - LITERAL_BYTES.keys()))


class LazyCode:
    """A placeholder for code that is parsed at the first access to a field.

    Parsing may raise `MalformedModule`. Programs call only a few functions of a package, so parsing
    the code of all functions would waste time.
    """

    __slots__ = ("__dict__", "_read")

    def __init__(self, read: Callable[[], Code]) -> None:
        self._read = read

    def __getattr__(self, name: str) -> Any:
        """Parse the code, set all fields, and return the requested one."""
        if name not in Code.__struct_fields__:
            raise AttributeError(name)
        code = self._read()
        vars(self).update({field: getattr(code, field) for field in Code.__struct_fields__})
        return getattr(code, name)

    def __eq__(self, other: object) -> bool:
        fields = Code.__struct_fields__
        return isinstance(other, LazyCode | Code) and all(
            getattr(self, field) == getattr(other, field) for field in fields
        )

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, field) for field in Code.__struct_fields__))


def lazy_code(cursor: Cursor, draft: Draft, handle: int) -> Code:
    """Return a placeholder for the code of the function with this handle.

    This function only locates the end of the code. The code is parsed at its first use.
    """
    start = cursor.position
    _skip(cursor, draft.version)
    end = cursor.position
    placeholder = LazyCode(lambda: read_code(Cursor(cursor.data, start, end), draft, handle))
    return cast("Code", placeholder)  # the placeholder behaves like a `Code`


def _skip(cursor: Cursor, version: int) -> None:
    cursor.uleb(TABLE_INDEX_MAX)
    _skip_instructions(cursor, cursor.uleb(BYTECODE_COUNT_MAX))
    if version >= VERSION_7:
        cursor.repeat(JUMP_TABLE_COUNT_MAX, _skip_jump_table)


def _skip_instructions(cursor: Cursor, count: int) -> None:
    data, position = cursor.data, cursor.position
    try:
        for _ in range(count):
            opcode = data[position]
            if opcode in _WITH_INDEX:
                position += 1
                while data[position] >= _ULEB_GOES_ON:
                    position += 1
            position += 1 + _FIXED_BYTES.get(opcode, 0)
    except IndexError:
        position = len(data) + 1
    cursor.take(position - cursor.position)  # raises an error if the position is past the end


def _skip_jump_table(cursor: Cursor) -> None:
    cursor.uleb(TABLE_INDEX_MAX)
    branches = cursor.uleb(VARIANT_COUNT_MAX)
    cursor.byte()
    for _ in range(branches):
        cursor.uleb(TABLE_INDEX_MAX)
