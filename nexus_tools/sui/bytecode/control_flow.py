"""Where execution goes on after an instruction, and where basic blocks begin.

The verifier and the translator each make a control flow graph of their own of these.
"""

from nexus_tools.sui.bytecode.module import Code
from nexus_tools.sui.bytecode.opcode import Opcode

EXITS = frozenset({Opcode.RET, Opcode.ABORT})
"""What ends the function."""
CONDITIONS = frozenset({Opcode.BR_TRUE, Opcode.BR_FALSE})
"""What goes on in one of two places."""
ENDS = EXITS | {Opcode.BRANCH, Opcode.VARIANT_SWITCH}
"""What control flow does not fall through: code that does not end with one runs past its end."""

_BLOCK_ENDS = ENDS | CONDITIONS


def successors(code: Code, offset: int) -> tuple[int, ...]:
    """The offsets at which execution may go on after the instruction at `offset`.

    After a condition, where it goes if the condition is true, and then if it is false; after
    VARIANT_SWITCH, one for each tag. The last instruction of code that runs past its end has
    `len(code.instructions)` among them.
    """
    instruction = code.instructions[offset]
    opcode, operand = instruction.opcode, instruction.operand
    if opcode not in _BLOCK_ENDS:
        return (offset + 1,)
    if opcode in EXITS:
        return ()
    assert isinstance(operand, int)
    if opcode is Opcode.VARIANT_SWITCH:
        return code.jump_tables[operand].offsets
    if opcode is Opcode.BRANCH:
        return (operand,)
    return (operand, offset + 1) if opcode is Opcode.BR_TRUE else (offset + 1, operand)


def block_starts(code: Code) -> list[int]:
    """The offsets at which basic blocks begin, in order.

    That is the first one, each one that a jump leads to, and each one after a jump or an exit:
    of `0: BR_FALSE 3; 1: LD_U8; 2: BRANCH 0; 3: RET` the offsets 0, 1 and 3.
    """
    starts = {0}
    for offset, instruction in enumerate(code.instructions):
        if instruction.opcode in _BLOCK_ENDS:
            starts.update(successors(code, offset), (offset + 1,))
    starts.discard(len(code.instructions))
    return sorted(starts)
