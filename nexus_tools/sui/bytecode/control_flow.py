"""The successors of an instruction, and the starts of basic blocks.

The verifier and the translator use these functions to build their own control flow graphs.
"""

from nexus_tools.sui.bytecode.module import Code
from nexus_tools.sui.bytecode.opcode import Opcode

FUNCTION_EXITS = frozenset({Opcode.RET, Opcode.ABORT})
"""The instructions that end the function."""
CONDITIONS = frozenset({Opcode.BR_TRUE, Opcode.BR_FALSE})
"""The instructions with two successors."""
ENDS = FUNCTION_EXITS | {Opcode.BRANCH, Opcode.VARIANT_SWITCH}
"""The instructions without fall-through, one of which must be the last of each function."""

_BLOCK_ENDS = ENDS | CONDITIONS


def successors(code: Code, offset: int) -> tuple[int, ...]:
    """Return the offsets of the instructions that may run after the instruction at `offset`.

    For a conditional branch, the result is the target for true and then the target for false. For
    VARIANT_SWITCH, the result has one offset per tag. If the last instruction can fall through, its
    result includes `len(code.instructions)`.
    """
    instruction = code.instructions[offset]
    opcode, operand = instruction.opcode, instruction.operand
    if opcode not in _BLOCK_ENDS:
        return (offset + 1,)
    if opcode in FUNCTION_EXITS:
        return ()
    assert isinstance(operand, int)
    if opcode is Opcode.VARIANT_SWITCH:
        return code.jump_tables[operand].offsets
    if opcode is Opcode.BRANCH:
        return (operand,)
    return (operand, offset + 1) if opcode is Opcode.BR_TRUE else (offset + 1, operand)


def block_starts(code: Code) -> list[int]:
    """Return the offsets of the starts of basic blocks, in order.

    A block starts at the first offset, at the target of each jump, and after each jump or exit. For
    example, the blocks of `0: BR_FALSE 3; 1: LD_U8; 2: BRANCH 0; 3: RET` start at 0, 1 and 3.
    """
    starts = {0}
    for offset, instruction in enumerate(code.instructions):
        if instruction.opcode in _BLOCK_ENDS:
            starts.update(successors(code, offset), (offset + 1,))
    starts.discard(len(code.instructions))
    return sorted(starts)
