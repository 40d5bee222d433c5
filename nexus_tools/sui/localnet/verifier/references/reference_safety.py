"""No reference dangles, and what a mutable reference leads to has no other reader or writer.

    let b = &counter.value;
    let a = &mut counter.value;     // takes over: b is borrowed from a from now on
    *a = 1;                         // refused, because b is still used
    *b

Each block is gone through with what is known of the references at its start; where ways meet, what
either says is kept. Source: `move-bytecode-verifier/src/reference_safety`.
"""

from nexus_tools.sui.bytecode import ReferenceToken
from nexus_tools.sui.localnet.verifier.abstract_interpreter import interpret
from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block
from nexus_tools.sui.localnet.verifier.references.borrow_graph import BorrowGraph
from nexus_tools.sui.localnet.verifier.references.reference_rules import REFERENCE_RULES
from nexus_tools.sui.localnet.verifier.references.reference_state import (
    VALUE,
    ReferenceChecker,
    ReferenceState,
)
from nexus_tools.sui.localnet.verifier.stack_usage import stack_effect

# `JOIN_BASE_COST`, `JOIN_ITEM_COST` and `JOIN_ITEM_QUADRATIC_THRESHOLD`: graphs of up to ten items
# cost by their size, larger ones by its square.
_JOIN_UNITS = 10
_JOIN_ITEM_UNITS = 4
_JOIN_MANY = 10


def verify_references(context: FunctionContext) -> None:
    """Raise `VerificationError` for a reference that is not safe to use, write or return."""
    interpret(context, _ReferenceSafety(context), _initial(context))


def _initial(context: FunctionContext) -> ReferenceState:
    graph = BorrowGraph()
    values = [VALUE] * len(context.locals)
    for local, type_ in enumerate(context.parameters):
        if isinstance(type_, ReferenceToken):
            graph.add(local, mutable=type_.mutable)
            values[local] = local
    graph.add(len(values), mutable=True)
    return ReferenceState(values, graph, context.meter)


class _ReferenceSafety:
    def __init__(self, context: FunctionContext) -> None:
        self._context = context

    def execute(self, state: ReferenceState, block: Block) -> ReferenceState:
        context = self._context
        checker = ReferenceChecker(context, state.copy())
        stack, returns = checker.stack, len(context.returns)
        context.meter.add(block.end - block.start + 1)
        for offset in range(block.start, block.end + 1):
            instruction = context.code.instructions[offset]
            rule = REFERENCE_RULES.get(instruction.opcode)
            if rule is not None:
                checker.offset = offset
                rule(checker, instruction.operand)
                continue
            # Without a rule, an instruction takes and leaves values that are no references.
            pops, pushes = stack_effect(checker.module, returns, instruction)
            del stack[len(stack) - pops :]
            stack.extend([VALUE] * pushes)
        return checker.state.settled() if block.successors else checker.state

    def join(self, state: ReferenceState, other: ReferenceState) -> ReferenceState | None:
        size = state.graph.size + other.graph.size
        items = max(size, size * size // _JOIN_MANY)
        self._context.meter.add(_JOIN_UNITS + _JOIN_ITEM_UNITS * items)
        # A local that has a reference on one way alone cannot be used any more; what was borrowed
        # through that reference still counts, which is why it is released and not just left out.
        values, differing = list(state.locals), False
        for local, (one, another) in enumerate(zip(state.locals, other.locals, strict=True)):
            if one != another:
                values[local] = VALUE
                differing = True
        mine, theirs = state, other
        if differing:
            mine, theirs = _without(state, values), _without(other, values)
        missing = mine.graph.missing(theirs.graph)
        if not missing and mine.locals == state.locals:
            return None
        joined = mine.copy()
        joined.graph.add_edges(missing)
        return joined


def _without(state: ReferenceState, values: list[int]) -> ReferenceState:
    """The state without the references in locals that have none in `values`."""
    changed = state.copy()
    for local, (own, kept) in enumerate(zip(state.locals, values, strict=True)):
        if own != kept:
            changed.release(own)
            changed.locals[local] = VALUE
    return changed
