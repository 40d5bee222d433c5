"""An abstract interpreter, which visits a function's blocks until their states no longer change.

Take `x; while (a) { move x }` with the blocks 0, the header 1, the body 2 and the end 3. When 1 is
reached from 0, x has a value. After 2 it has none. The join of both at 1 is "maybe", which is a
change, so 1 and 2 are visited again. Now 2 moves a value that may be missing, and is rejected.

Source: `move-abstract-interpreter/src/absint.rs`.
"""

from typing import Protocol, TypeVar

from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block

_State = TypeVar("_State")
# `ANALYZE_FUNCTION_BASE_COST`. `EXECUTE_BLOCK_BASE_COST` and `PER_SUCCESSOR_COST` are the same.
_BASE_UNITS = 10
_STEP_UNITS = 10


class Analysis(Protocol[_State]):
    """The state at a point of a function, and the effect of its blocks on the state."""

    def execute(self, state: _State, block: Block) -> _State:
        """Return the state after the block. `state` is the one before it and does not change."""
        ...

    def join(self, state: _State, other: _State) -> _State | None:
        """Return the state that covers both, or None if that is `state` itself."""
        ...


def interpret(context: FunctionContext, analysis: Analysis[_State], initial: _State) -> None:
    """Raise the `VerificationError` of the first instruction that the analysis rejects."""
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
