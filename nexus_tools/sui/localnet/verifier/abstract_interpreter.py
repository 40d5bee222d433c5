"""Going through the blocks of a function until what is known at their starts no longer changes.

For `x; while (a) { move x }` with the blocks 0, the head 1, the body 2 and the end 3: at 1, x has a
value, when 1 is reached from 0. After 2 it has none. At 1 both are joined to "perhaps", which is
news, so that 1 and 2 are gone through again; now 2 moves what perhaps is not there, and is refused.

Source: `move-abstract-interpreter/src/absint.rs`.
"""

from typing import Protocol, TypeVar

from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block

_State = TypeVar("_State")
# `ANALYZE_FUNCTION_BASE_COST`; `EXECUTE_BLOCK_BASE_COST` and `PER_SUCCESSOR_COST` are the same.
_BASE_UNITS = 10
_STEP_UNITS = 10


class Analysis(Protocol[_State]):
    """What is known of the running function at a place, and how its blocks change that."""

    def execute(self, state: _State, block: Block) -> _State:
        """What is known after the block if `state` is known before it; `state` stays as it is."""
        ...

    def join(self, state: _State, other: _State) -> _State | None:
        """What is known if either is; None if that is `state` itself."""
        ...


def interpret(context: FunctionContext, analysis: Analysis[_State], initial: _State) -> None:
    """Raise the `VerificationError` of the first instruction that the analysis refuses."""
    flow, meter = context.flow, context.meter
    meter.add(_BASE_UNITS)
    place = {start: number for number, start in enumerate(flow.order)}
    known = {0: initial}
    number = 0
    while number < len(flow.order):
        start = flow.order[number]
        number += 1
        if start not in known:
            continue
        meter.add(_STEP_UNITS)
        after = analysis.execute(known[start], flow.blocks[start])
        for successor in flow.blocks[start].successors:
            meter.add(_STEP_UNITS)
            before = known.get(successor)
            joined = after if before is None else analysis.join(before, after)
            if joined is None:
                continue
            known[successor] = joined
            if (start, successor) in flow.back_edges:
                # What the loop's head knows has changed: once more from there.
                number = min(number, place[successor])
