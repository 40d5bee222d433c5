"""The placement of the statements with which a function charges its work to the meter.

Each block could charge its own work at its start. However, it is faster to charge for several
blocks at once, in advance, and to return the charge for work that is not done. A block that
branches pays for its most likely successor, and its other successors charge the difference. On
every path through the function, the sum of the charges is equal to the work.

For example, in `while (a) { b }; c`, a has 7 units of work, b has 11, and c has 3. The loop header
a branches, and only a leads to b and c. b is likelier than c, because b is in the loop. So a
charges 7 + 11, b charges nothing, and c charges 3 - 11, which returns 8. On the path a b a b a c,
the charges are

    18 + 18 + 18 - 8 = 46

and the work is

    7 + 11 + 7 + 11 + 7 + 3 = 46
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from nexus_tools.sui.localnet.vm.metering import Work
from nexus_tools.sui.localnet.vm.translator.control_flow import ENTRY, Block, ControlFlowGraph
from nexus_tools.sui.localnet.vm.translator.statement import Line

_CHECK = "if meter.left < 0.0: meter.settle()"

# The maximum charge in advance. If an instruction fails, the advance charge is not returned.
_ADVANCE_MAX = 256
# A block with more work than this charges its work with a method call, because the fields of
# `Meter.left` are too narrow.
_BLOCK_MAX = 2_048
# A function whose blocks do more work than this in total checks the meter in every block. The limit
# is lower for a function that calls others, because up to two hundred callers may return one after
# another before one of them checks the meter. Together they do at most 200 · 300 = 60 000 units of
# work with 200 · 128 = 25 600 pushes. Both numbers fit into the meter's fields.
_FUNCTION_MAX = 2_048
_CALLER_MAX = 300
_CALLER_PUSHES_MAX = 128


class ReturnedWork(Struct, frozen=True):
    """Work whose charge is returned, because it was charged in advance but is not done."""

    work: Work

    def __str__(self) -> str:
        return f"back: {self.work}"


class Charges:
    """The charging statements of a function's blocks, computed from the `work` of each block.

    `loops` maps the header of each loop to the loop's blocks.
    """

    def __init__(
        self,
        graph: ControlFlowGraph,
        work: Mapping[int, Work],
        loops: Mapping[int, set[int]],
        *,
        has_calls: bool,
    ) -> None:
        self._blocks = graph.blocks
        self._loops = loops
        self._large = {
            name: block_work for name, block_work in work.items() if block_work.total > _BLOCK_MAX
        }
        self._work = {name: Work() if name in self._large else work[name] for name in work}
        self._is_long = _is_long(work, has_calls=has_calls)
        # The loop runs from the last block to the first, so that an advance charge can move through
        # several blocks.
        for name in reversed(graph.order):
            self._pay_for_likely(name)
            self._pay_before(name)

    def lines(self, name: int, *, is_looked_at: bool) -> Iterator[Line]:
        """Yield the lines that charge a block. `is_looked_at` adds a check of the meter."""
        large, work = self._large.get(name), self._work[name]
        if large is not None:
            yield Line(f"meter.charge_work({large.instructions}, {large.pushes}, {large.size})")
        if work.left > 0:
            yield Line(f"meter.left -= {work.left!r}", note=work)
        elif work.left < 0:
            yield Line(f"meter.left += {-work.left!r}", note=ReturnedWork(-work))
        if is_looked_at or self._is_long:
            yield Line(_CHECK)

    def _pay_for_likely(self, name: int) -> None:
        """Let a branching block pay for one successor if no other block leads to any successor."""
        targets = list(dict.fromkeys(self._blocks[name].successors))
        if len(targets) < 2 or any(not self._has_only(target, name) for target in targets):
            return
        likely = max(targets, key=lambda target: self._likelihood(name, target))
        # After this step, the likely successor charges nothing. The other successors charge the
        # difference, which is negative if they do less work.
        advance = self._work[likely]
        if not self._move(advance, name):
            return
        for target in targets:
            self._work[target] -= advance

    def _pay_before(self, name: int) -> None:
        """Let the predecessors of a join pay for its work, if they do not lead to another block.

        In `if (a) b else c; d`, b and c pay for d. In `if (a) b; d`, a pays for d, because every
        path from a leads to d, directly or through b. A predecessor with other successors would pay
        for work that is not done.
        """
        predecessors = set(self._blocks[name].predecessors)
        if name == ENTRY or name in self._loops or len(predecessors) < 2:
            return
        branching = [other for other in predecessors if self._branches(other)]
        # In `if (a) b; d`, the predecessors of d are b and a, and a branches. Only a pays, because
        # every path to b passes through a. If two predecessors branch, `_leads_to` returns False,
        # because the second predecessor has several successors.
        if branching and not self._leads_to(branching[0], name, predecessors - {branching[0]}):
            return
        predecessors = set(branching) or predecessors
        advance = self._work[name]
        if all(self._fits(advance, other) for other in predecessors):
            for other in predecessors:
                self._move(advance, other)
            self._work[name] = Work()

    def _leads_to(self, name: int, join: int, others: set[int]) -> bool:
        """Return whether a block leads only to a join, directly or through a block in `others`."""
        if set(self._blocks[name].successors) != {*others, join}:
            return False
        return all(self._has_only(other, name) and not self._branches(other) for other in others)

    def _move(self, advance: Work, name: int) -> bool:
        if not self._fits(advance, name):
            return False
        self._work[name] += advance
        return True

    def _fits(self, advance: Work, name: int) -> bool:
        return advance.total <= _ADVANCE_MAX and name not in self._large

    def _branches(self, name: int) -> bool:
        return len(set(self._blocks[name].successors)) > 1

    def _has_only(self, name: int, predecessor: int) -> bool:
        """Return whether `predecessor` is the only block that leads to a block."""
        return name != ENTRY and set(self._blocks[name].predecessors) == {predecessor}

    def _likelihood(self, name: int, target: int) -> tuple[bool, int, int]:
        """Return a sort key, which is high for a target in a loop and low for a final block."""
        block: Block = self._blocks[target]
        stays = sum(name in body and target in body for body in self._loops.values())
        return bool(block.successors), stays, self._work[target].total


def _is_long(work: Mapping[int, Work], *, has_calls: bool) -> bool:
    """Return whether a function does so much work that every block must check the meter."""
    later_blocks = [block_work for name, block_work in work.items() if name != ENTRY]
    total, pushes = (
        sum(block_work.total for block_work in later_blocks),
        sum(block_work.pushes for block_work in later_blocks),
    )
    if has_calls:
        return total > _CALLER_MAX or pushes > _CALLER_PUSHES_MAX
    return total > _FUNCTION_MAX
