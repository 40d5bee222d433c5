"""Instructions meet values of the types that they are for.

Source: `move-bytecode-verifier/src/type_safety.rs`.
"""

from nexus_tools.localnet.verifier.context import FunctionContext
from nexus_tools.localnet.verifier.type_checker import TypeChecker
from nexus_tools.localnet.verifier.type_rules import RULES


def verify_types(context: FunctionContext) -> None:
    """Raise `VerificationError` for an instruction that meets a value of another type.

    The stack of each block is balanced, so that each block is looked at once, by itself.
    """
    checker = TypeChecker(context)
    instructions = context.code.instructions
    for block in context.flow.blocks.values():
        for offset in range(block.start, block.end + 1):
            instruction = instructions[offset]
            checker.offset = offset
            RULES[instruction.opcode](checker, instruction.operand)
