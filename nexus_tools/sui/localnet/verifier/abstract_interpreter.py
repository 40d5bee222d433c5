"""An abstract interpreter, which visits the blocks of a function until their states are stable.

For example, `x; while (a) { move x }` has four blocks: the entry 0, the header 1, the body 2, and
the end 3. On the path from block 0 to block 1, x has a value. On the path from block 2 to block 1,
x has no value. The join of both states at block 1 is "maybe". The state of block 1 has changed, so
the interpreter visits the blocks 1 and 2 again. At this visit, block 2 moves a value that may be
missing, so the interpreter rejects the block.

Source: `move-abstract-interpreter/src/absint.rs`.
"""

from typing import Protocol, TypeVar

from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block

_State = TypeVar("_State")
# In Sui, the first cost is `ANALYZE_FUNCTION_BASE_COST`. The second cost is both
# `EXECUTE_BLOCK_BASE_COST` and `PER_SUCCESSOR_COST`.
_BASE_UNITS = 10
_STEP_UNITS = 10


class Analysis(Protocol[_State]):
    """A dataflow analysis: how a block changes a state, and how states are joined."""

    def execute(self, state: _State, block: Block) -> _State:
        """Return the state after a block.

        `state` is the state before the block and is not modified.
        """
        ...

    def join(self, state: _State, other: _State) -> _State | None:
        """Return a state that covers both states, or None if `state` already covers `other`."""
        ...


def interpret(context: FunctionContext, analysis: Analysis[_State], initial: _State) -> None:
    """Run an analysis and raise `VerificationError` for the first instruction that it rejects."""
    flow, meter = context.flow, context.meter
    meter.add(_BASE_UNITS)
    positions = {start: number for number, start in enumerate(flow.order)}
    states = {0: initial}
    number = 0
    while number < len(flow.order):
        start = flow.order[number]
        number += 1
        if start not in states:
            continue
        meter.add(_STEP_UNITS)
        state_after = analysis.execute(states[start], flow.blocks[start])
        for successor in flow.blocks[start].successors:
            meter.add(_STEP_UNITS)
            old_state = states.get(successor)
            new_state = state_after if old_state is None else analysis.join(old_state, state_after)
            if new_state is None:
                continue
            states[successor] = new_state
            if (start, successor) in flow.back_edges:
                # The state at the loop's header has changed, so continue from there again.
                number = min(number, positions[successor])
