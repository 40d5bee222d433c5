"""Every block leaves the stack as it found it, and never takes what it did not put there.

Source: `move-bytecode-verifier/src/stack_usage_verifier.rs`.
"""

from nexus_tools.localnet.verifier.context import FunctionContext
from nexus_tools.localnet.verifier.control_flow import Block
from nexus_tools.localnet.verifier.limits import PUSHES_MAX, STACK_SIZE_MAX
from nexus_tools.localnet.verifier.stack_effect import stack_effect


def verify_stack_usage(context: FunctionContext) -> None:
    """Raise `VerificationError` for a block that does not balance the stack."""
    for block in context.flow.blocks.values():
        _verify_block(context, block)


def _verify_block(context: FunctionContext, block: Block) -> None:
    height = pushed = 0
    instructions = context.code.instructions
    for offset in range(block.start, block.end + 1):
        pops, pushes = stack_effect(context, instructions[offset])
        pushed += pushes
        if pushed > PUSHES_MAX:
            message = f"a block pushes more than {PUSHES_MAX} values"
            raise context.refused("VALUE_STACK_PUSH_OVERFLOW", message, block.start)
        if height < pops:
            message = "a block takes values from the stack that it did not put there"
            raise context.refused("NEGATIVE_STACK_SIZE_WITHIN_BLOCK", message, block.start)
        height += pushes - pops
        if height > STACK_SIZE_MAX:
            message = f"the stack grows above {STACK_SIZE_MAX} values"
            raise context.refused("VALUE_STACK_OVERFLOW", message, block.start)
    if height:
        message = f"a block leaves {height} values on the stack"
        raise context.refused("POSITIVE_STACK_SIZE_AT_BLOCK_END", message, block.start)
