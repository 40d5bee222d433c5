"""Reading the body of a function: its instructions and jump tables.

What an instruction refers to is checked here, so that a reader of the module never meets an index
without a row, a branch out of the code or a type parameter that the function does not have.
"""

from collections.abc import Callable, Sequence

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.cursor import Cursor
from nexus_tools.localnet.bytecode.draft import Draft
from nexus_tools.localnet.bytecode.limits import (
    BYTECODE_COUNT_MAX,
    JUMP_TABLE_COUNT_MAX,
    LOCAL_INDEX_MAX,
    LOCALS_COUNT_MAX,
    VARIANT_COUNT_MAX,
    VARIANT_HANDLE_INDEX_MAX,
    VERSION_6,
    VERSION_7,
)
from nexus_tools.localnet.bytecode.module import (
    Code,
    Instantiation,
    Instruction,
    JumpTable,
    VecOperand,
)
from nexus_tools.localnet.bytecode.opcode import LITERAL_BYTES, Opcode

_FULL_JUMP_TABLE = 0x1


@dataclass(frozen=True, slots=True)
class _Function:
    """What the operands of one function are checked against."""

    draft: Draft
    type_parameters: int
    locals: int
    instructions: int


_Reader = Callable[[Cursor, _Function], int | VecOperand]


def read_code(cursor: Cursor, draft: Draft, handle: int) -> Code:
    """The code of the function with this handle."""
    function_handle = draft.function_handles[handle]
    local_types = cursor.index(len(draft.signatures), "signatures")
    type_parameters = len(function_handle.type_parameters)
    if draft.signature_arities[local_types] > type_parameters:
        raise cursor.malformed("a local uses a type parameter that the function does not have")
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
    elif number in OPERANDS:
        instruction = Instruction(_OPCODES[number], OPERANDS[number](cursor, function))
    else:
        raise cursor.malformed(f"there is no instruction {number:#x}")
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
        raise cursor.malformed("a jump table has not one branch for each variant")
    if cursor.byte() != _FULL_JUMP_TABLE:
        raise cursor.malformed("there is no such kind of jump table")
    return JumpTable(enum, tuple([_branch(cursor, function) for _ in range(count)]))


def _check_switches(
    cursor: Cursor, instructions: Sequence[Instruction], jump_tables: Sequence[JumpTable]
) -> None:
    """Jump tables follow the code, so that the switches are only now comparable with them."""
    for instruction in instructions:
        if instruction.opcode is Opcode.VARIANT_SWITCH:
            assert isinstance(instruction.operand, int)
            if instruction.operand >= len(jump_tables):
                raise cursor.malformed(f"the function has no jump table {instruction.operand}")


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
        raise cursor.malformed("the function does not have the type parameter")


def _element(cursor: Cursor, function: _Function) -> int:
    signature = cursor.index(len(function.draft.signatures), "signatures")
    _check_type_arguments(cursor, function, signature)
    return signature


def _elements(cursor: Cursor, function: _Function) -> VecOperand:
    return VecOperand(_element(cursor, function), cursor.little_endian(8))


# The instructions that have an operand, and what reads it.
OPERANDS: dict[int, _Reader] = {
    Opcode.BR_TRUE: _branch,
    Opcode.BR_FALSE: _branch,
    Opcode.BRANCH: _branch,
    **{opcode: _literal(size) for opcode, size in LITERAL_BYTES.items()},
    Opcode.LD_CONST: _constant,
    Opcode.COPY_LOC: _local,
    Opcode.MOVE_LOC: _local,
    Opcode.ST_LOC: _local,
    Opcode.MUT_BORROW_LOC: _local,
    Opcode.IMM_BORROW_LOC: _local,
    Opcode.MUT_BORROW_FIELD: _field,
    Opcode.IMM_BORROW_FIELD: _field,
    Opcode.MUT_BORROW_FIELD_GENERIC: _field_generic,
    Opcode.IMM_BORROW_FIELD_GENERIC: _field_generic,
    Opcode.CALL: _function,
    Opcode.CALL_GENERIC: _function_generic,
    Opcode.PACK: _struct,
    Opcode.PACK_GENERIC: _struct_generic,
    Opcode.UNPACK: _struct,
    Opcode.UNPACK_GENERIC: _struct_generic,
    Opcode.VEC_PACK: _elements,
    Opcode.VEC_LEN: _element,
    Opcode.VEC_IMM_BORROW: _element,
    Opcode.VEC_MUT_BORROW: _element,
    Opcode.VEC_PUSH_BACK: _element,
    Opcode.VEC_POP_BACK: _element,
    Opcode.VEC_UNPACK: _elements,
    Opcode.VEC_SWAP: _element,
    Opcode.PACK_VARIANT: _variant,
    Opcode.PACK_VARIANT_GENERIC: _variant_generic,
    Opcode.UNPACK_VARIANT: _variant,
    Opcode.UNPACK_VARIANT_IMM_REF: _variant,
    Opcode.UNPACK_VARIANT_MUT_REF: _variant,
    Opcode.UNPACK_VARIANT_GENERIC: _variant_generic,
    Opcode.UNPACK_VARIANT_GENERIC_IMM_REF: _variant_generic,
    Opcode.UNPACK_VARIANT_GENERIC_MUT_REF: _variant_generic,
    Opcode.VARIANT_SWITCH: _jump_table,
    Opcode.EXISTS_DEPRECATED: _struct,
    Opcode.MUT_BORROW_GLOBAL_DEPRECATED: _struct,
    Opcode.IMM_BORROW_GLOBAL_DEPRECATED: _struct,
    Opcode.MOVE_FROM_DEPRECATED: _struct,
    Opcode.MOVE_TO_DEPRECATED: _struct,
    Opcode.EXISTS_GENERIC_DEPRECATED: _struct_generic,
    Opcode.MUT_BORROW_GLOBAL_GENERIC_DEPRECATED: _struct_generic,
    Opcode.IMM_BORROW_GLOBAL_GENERIC_DEPRECATED: _struct_generic,
    Opcode.MOVE_FROM_GENERIC_DEPRECATED: _struct_generic,
    Opcode.MOVE_TO_GENERIC_DEPRECATED: _struct_generic,
}
_OPCODES = {int(opcode): opcode for opcode in Opcode}
# An instruction without an operand is one value for all its uses.
_PLAIN = {int(opcode): Instruction(opcode) for opcode in Opcode if opcode not in OPERANDS}
_SINCE: dict[int, int] = {
    Opcode.LD_U16: VERSION_6,
    Opcode.LD_U32: VERSION_6,
    Opcode.LD_U256: VERSION_6,
    Opcode.CAST_U16: VERSION_6,
    Opcode.CAST_U32: VERSION_6,
    Opcode.CAST_U256: VERSION_6,
    **{opcode: VERSION_7 for opcode in Opcode if opcode >= Opcode.PACK_VARIANT},
}
