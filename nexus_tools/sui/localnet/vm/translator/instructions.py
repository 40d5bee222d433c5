"""The translators of all instructions, and the charges for the values that they push.

For each instruction, `PUSHES` contains the number of pushed values and the number of their bytes.
If a charge depends on the operand or on a value, the translator of the instruction adds the charge.
Bytes are counted as in Sui's meter and are not real sizes. A result of a calculation has 1 byte,
and a new struct has 2 bytes. A reference, a moved value and a new vector have 8 bytes each. Source:
`sui-adapter/src/gas_meter.rs`.
"""

from collections.abc import Mapping

from nexus_tools.sui.bytecode import Opcode
from nexus_tools.sui.localnet.vm.translator.arithmetic import ARITHMETIC, COMPARISON
from nexus_tools.sui.localnet.vm.translator.block import InstructionTable
from nexus_tools.sui.localnet.vm.translator.calls import CALLS
from nexus_tools.sui.localnet.vm.translator.datatypes import DATATYPES
from nexus_tools.sui.localnet.vm.translator.references import LOCALS, REFERENCES
from nexus_tools.sui.localnet.vm.translator.vectors import VECTORS
from nexus_tools.sui.localnet.vm.values.size import REFERENCE_BYTES

INSTRUCTIONS: InstructionTable = {
    **ARITHMETIC,
    **COMPARISON,
    **LOCALS,
    **REFERENCES,
    **DATATYPES,
    **VECTORS,
    **CALLS,
}


NO_PUSH = (0, 0)

_SCALAR, _REFERENCE, _STRUCT, _VECTOR = (1, 1), (1, REFERENCE_BYTES), (1, 2), (1, 8)
_VALUE = (1, 0)

_SCALARS = (
    "LD_U8 LD_U16 LD_U32 LD_U64 LD_U128 LD_U256 LD_TRUE LD_FALSE "
    "CAST_U8 CAST_U16 CAST_U32 CAST_U64 CAST_U128 CAST_U256 "
    "ADD SUB MUL MOD DIV BIT_OR BIT_AND XOR SHL SHR OR AND NOT LT GT LE GE EQ NEQ VEC_LEN"
)
_REFERENCES = (
    "FREEZE_REF MUT_BORROW_LOC IMM_BORROW_LOC MUT_BORROW_FIELD IMM_BORROW_FIELD "
    "MUT_BORROW_FIELD_GENERIC IMM_BORROW_FIELD_GENERIC VEC_IMM_BORROW VEC_MUT_BORROW MOVE_LOC"
)
_STRUCTS = "PACK PACK_GENERIC PACK_VARIANT PACK_VARIANT_GENERIC"
_VALUES = "COPY_LOC LD_CONST READ_REF VEC_POP_BACK"


def _rows(names: str, push: tuple[int, int]) -> dict[Opcode, tuple[int, int]]:
    return dict.fromkeys([Opcode[name] for name in names.split()], push)


PUSHES: Mapping[Opcode, tuple[int, int]] = {
    **_rows(_SCALARS, _SCALAR),
    **_rows(_REFERENCES, _REFERENCE),
    **_rows(_STRUCTS, _STRUCT),
    **_rows("VEC_PACK", _VECTOR),
    **_rows(_VALUES, _VALUE),
}
