"""The instructions of the Move VM, and the kinds of their operands.

Source: `Opcodes` in `move-binary-format/src/file_format_common.rs`, `Bytecode` in `file_format.rs`.
"""

from collections.abc import Iterator
from enum import IntEnum, StrEnum


class Opcode(IntEnum):
    """The opcodes of instructions in a module file. Global storage instructions are deprecated."""

    POP = 0x01
    RET = 0x02
    BR_TRUE = 0x03
    BR_FALSE = 0x04
    BRANCH = 0x05
    LD_U64 = 0x06
    LD_CONST = 0x07
    LD_TRUE = 0x08
    LD_FALSE = 0x09
    COPY_LOC = 0x0A
    MOVE_LOC = 0x0B
    ST_LOC = 0x0C
    MUT_BORROW_LOC = 0x0D
    IMM_BORROW_LOC = 0x0E
    MUT_BORROW_FIELD = 0x0F
    IMM_BORROW_FIELD = 0x10
    CALL = 0x11
    PACK = 0x12
    UNPACK = 0x13
    READ_REF = 0x14
    WRITE_REF = 0x15
    ADD = 0x16
    SUB = 0x17
    MUL = 0x18
    MOD = 0x19
    DIV = 0x1A
    BIT_OR = 0x1B
    BIT_AND = 0x1C
    XOR = 0x1D
    OR = 0x1E
    AND = 0x1F
    NOT = 0x20
    EQ = 0x21
    NEQ = 0x22
    LT = 0x23
    GT = 0x24
    LE = 0x25
    GE = 0x26
    ABORT = 0x27
    NOP = 0x28
    EXISTS_DEPRECATED = 0x29
    MUT_BORROW_GLOBAL_DEPRECATED = 0x2A
    IMM_BORROW_GLOBAL_DEPRECATED = 0x2B
    MOVE_FROM_DEPRECATED = 0x2C
    MOVE_TO_DEPRECATED = 0x2D
    FREEZE_REF = 0x2E
    SHL = 0x2F
    SHR = 0x30
    LD_U8 = 0x31
    LD_U128 = 0x32
    CAST_U8 = 0x33
    CAST_U64 = 0x34
    CAST_U128 = 0x35
    MUT_BORROW_FIELD_GENERIC = 0x36
    IMM_BORROW_FIELD_GENERIC = 0x37
    CALL_GENERIC = 0x38
    PACK_GENERIC = 0x39
    UNPACK_GENERIC = 0x3A
    EXISTS_GENERIC_DEPRECATED = 0x3B
    MUT_BORROW_GLOBAL_GENERIC_DEPRECATED = 0x3C
    IMM_BORROW_GLOBAL_GENERIC_DEPRECATED = 0x3D
    MOVE_FROM_GENERIC_DEPRECATED = 0x3E
    MOVE_TO_GENERIC_DEPRECATED = 0x3F
    VEC_PACK = 0x40
    VEC_LEN = 0x41
    VEC_IMM_BORROW = 0x42
    VEC_MUT_BORROW = 0x43
    VEC_PUSH_BACK = 0x44
    VEC_POP_BACK = 0x45
    VEC_UNPACK = 0x46
    VEC_SWAP = 0x47
    LD_U16 = 0x48
    LD_U32 = 0x49
    LD_U256 = 0x4A
    CAST_U16 = 0x4B
    CAST_U32 = 0x4C
    CAST_U256 = 0x4D
    PACK_VARIANT = 0x4E
    PACK_VARIANT_GENERIC = 0x4F
    UNPACK_VARIANT = 0x50
    UNPACK_VARIANT_IMM_REF = 0x51
    UNPACK_VARIANT_MUT_REF = 0x52
    UNPACK_VARIANT_GENERIC = 0x53
    UNPACK_VARIANT_GENERIC_IMM_REF = 0x54
    UNPACK_VARIANT_GENERIC_MUT_REF = 0x55
    VARIANT_SWITCH = 0x56


class OperandKind(StrEnum):
    """The kind of an operand.

    If the operand is an index of a table, the enum member's value is the table's name.
    """

    BRANCH = "branch"
    """The offset of another instruction of the function."""
    JUMP_TABLE = "jump_table"
    """The index of a jump table of the function."""
    LOCAL = "local"
    """The index of a local variable. The function's parameters have the first indices."""
    LITERAL = "literal"
    """An integer value. `LITERAL_BYTES` maps the opcode to the value's size."""
    ELEMENT = "element"
    """The index of the signature with the element type of a vector."""
    ELEMENTS = "elements"
    """A `VecOperand`: the element type of a vector, and the number of elements."""
    CONSTANT = "constants"
    FIELD = "field_handles"
    FIELD_INSTANTIATION = "field_instantiations"
    FUNCTION = "function_handles"
    FUNCTION_INSTANTIATION = "function_instantiations"
    STRUCT = "struct_definitions"
    STRUCT_INSTANTIATION = "struct_instantiations"
    VARIANT = "variant_handles"
    VARIANT_INSTANTIATION = "variant_instantiations"

    @property
    def is_instantiation(self) -> bool:
        """Whether the instruction provides type arguments for a generic definition."""
        return self.value.endswith("_instantiations")


def _kinds() -> Iterator[tuple[Opcode, OperandKind]]:
    for kind, names in _NAMES.items():
        for name in names.split():
            yield Opcode[name], kind


_NAMES = {
    OperandKind.BRANCH: "BR_TRUE BR_FALSE BRANCH",
    OperandKind.JUMP_TABLE: "VARIANT_SWITCH",
    OperandKind.LOCAL: "COPY_LOC MOVE_LOC ST_LOC MUT_BORROW_LOC IMM_BORROW_LOC",
    OperandKind.LITERAL: "LD_U8 LD_U16 LD_U32 LD_U64 LD_U128 LD_U256",
    OperandKind.ELEMENT: "VEC_LEN VEC_IMM_BORROW VEC_MUT_BORROW"
    " VEC_PUSH_BACK VEC_POP_BACK VEC_SWAP",
    OperandKind.ELEMENTS: "VEC_PACK VEC_UNPACK",
    OperandKind.CONSTANT: "LD_CONST",
    OperandKind.FIELD: "MUT_BORROW_FIELD IMM_BORROW_FIELD",
    OperandKind.FIELD_INSTANTIATION: "MUT_BORROW_FIELD_GENERIC IMM_BORROW_FIELD_GENERIC",
    OperandKind.FUNCTION: "CALL",
    OperandKind.FUNCTION_INSTANTIATION: "CALL_GENERIC",
    OperandKind.STRUCT: "PACK UNPACK EXISTS_DEPRECATED MUT_BORROW_GLOBAL_DEPRECATED"
    " IMM_BORROW_GLOBAL_DEPRECATED MOVE_FROM_DEPRECATED MOVE_TO_DEPRECATED",
    OperandKind.STRUCT_INSTANTIATION: "PACK_GENERIC UNPACK_GENERIC EXISTS_GENERIC_DEPRECATED"
    " MUT_BORROW_GLOBAL_GENERIC_DEPRECATED IMM_BORROW_GLOBAL_GENERIC_DEPRECATED"
    " MOVE_FROM_GENERIC_DEPRECATED MOVE_TO_GENERIC_DEPRECATED",
    OperandKind.VARIANT: "PACK_VARIANT UNPACK_VARIANT"
    " UNPACK_VARIANT_IMM_REF UNPACK_VARIANT_MUT_REF",
    OperandKind.VARIANT_INSTANTIATION: "PACK_VARIANT_GENERIC UNPACK_VARIANT_GENERIC"
    " UNPACK_VARIANT_GENERIC_IMM_REF UNPACK_VARIANT_GENERIC_MUT_REF",
}
OPERAND_KINDS: dict[Opcode, OperandKind] = dict(_kinds())
"""The operand kinds of the instructions that have an operand."""

LITERAL_BYTES: dict[Opcode, int] = {
    Opcode.LD_U8: 1,
    Opcode.LD_U16: 2,
    Opcode.LD_U32: 4,
    Opcode.LD_U64: 8,
    Opcode.LD_U128: 16,
    Opcode.LD_U256: 32,
}
"""The number of bytes of an instruction's literal, which is little-endian."""

DEPRECATED = frozenset(opcode for opcode in Opcode if opcode.name.endswith("_DEPRECATED"))
"""The instructions of Move's global storage, which can be parsed but not run on Sui."""
