"""The check that no reference dangles, and that the target of a mutable reference is not aliased.

    let b = &counter.value;
    let a = &mut counter.value;     // from now on, b is borrowed from a
    *a = 1;                         // rejected, because b is still used
    *b

The check visits each block with the state of the references at its start. Where two paths meet, the
state contains the borrows of both paths. Source: `move-bytecode-verifier/src/reference_safety`.
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

# In Sui, these numbers are `JOIN_BASE_COST`, `JOIN_ITEM_COST` and `JOIN_ITEM_QUADRATIC_THRESHOLD`.
# The cost of a graph grows with its size for up to ten items, and with the square of its size for
# more items.
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
            # An instruction without a rule pops and pushes values that are not references.
            pops, pushes = stack_effect(checker.module, returns, instruction)
            del stack[len(stack) - pops :]
            stack.extend([VALUE] * pushes)
        return checker.state.settled() if block.successors else checker.state

    def join(self, state: ReferenceState, other: ReferenceState) -> ReferenceState | None:
        size = state.graph.size + other.graph.size
        items = max(size, size * size // _JOIN_MANY)
        self._context.meter.add(_JOIN_UNITS + _JOIN_ITEM_UNITS * items)
        # If the references in a local differ between the two paths, code can no longer use the
        # local. Borrows through these references still count, so the state releases the references
        # and does not just remove them.
        values, differing = list(state.locals), False
        for local, (first, second) in enumerate(zip(state.locals, other.locals, strict=True)):
            if first != second:
                values[local] = VALUE
                differing = True
        own_state, incoming = state, other
        if differing:
            own_state, incoming = _without(state, values), _without(other, values)
        missing = own_state.graph.missing(incoming.graph)
        if not missing and own_state.locals == state.locals:
            return None
        joined = own_state.copy()
        joined.graph.add_edges(missing)
        return joined


def _without(state: ReferenceState, values: list[int]) -> ReferenceState:
    """Return the state after release of the references in locals that are not in `values`."""
    changed = state.copy()
    for local, (value, new_value) in enumerate(zip(state.locals, values, strict=True)):
        if value != new_value:
            changed.release(value)
            changed.locals[local] = VALUE
    return changed
