"""The placement of charges: where a function charges the work of its blocks to the meter.

Each block could charge its own work at its start. It is faster to charge more at once, earlier, and
to return the charge for work that is not done. A block that branches pays for the most likely
successor, and its other successors charge the difference. So on every path through the function the
charges equal the work.

An example: `while (a) { b }; c`, where a has 7 units of work, b 11 and c 3. The header a branches,
and only a leads to b and c. b is likelier, because it stays in the loop. So a charges 7 + 11, b
charges nothing, and c charges 3 - 11, which returns 8. On the path a b a b a c, the charges are

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

# The maximum charge in advance, which is lost if an instruction fails.
_ADVANCE_MAX = 256
# A block with more work is charged by a method call that accepts any number, because the fields of
# `Meter.left` are narrow.
_BLOCK_MAX = 2_048
# A function that can do more work than this without a loop checks the meter in every block. The
# limit is lower for a function that calls others, because two hundred callers may continue until
# one of them checks the meter. With 300 units each that is 60 000, and with 128 pushes 25 600. Both
# fit into the meter's fields.
_FUNCTION_MAX = 2_048
_CALLER_MAX = 300
_CALLER_PUSHES_MAX = 128


class ReturnedWork(Struct, frozen=True):
    """Work that was charged in advance and is not done."""

    work: Work

    def __str__(self) -> str:
        return f"back: {self.work}"


class Charges:
    """The charges of a function's blocks, given the `work` of each block.

    `loops` has the blocks of each loop by its header.
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
        # From the end to the start, so that an advance charge can move further ahead.
        for name in reversed(graph.order):
            self._pay_for_likely(name)
            self._pay_before(name)

    def lines(self, name: int, *, is_looked_at: bool) -> Iterator[Line]:
        """Yield the charging lines of a block; in loops, they always check the meter."""
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
        """Let a block that branches pay for one successor, if only it leads to its successors."""
        targets = list(dict.fromkeys(self._blocks[name].successors))
        if len(targets) < 2 or any(not self._has_only(target, name) for target in targets):
            return
        likely = max(targets, key=lambda target: self._likelihood(name, target))
        # Then the likely block charges nothing, and the others a negative amount if they do less.
        advance = self._work[likely]
        if not self._move(advance, name):
            return
        for target in targets:
            self._work[target] -= advance

    def _pay_before(self, name: int) -> None:
        """Let the predecessors of a join pay for it, if they lead nowhere else.

        In `if (a) b else c; d`, b and c pay for d. In `if (a) b; d`, a pays, because it leads to d
        directly or through b. A predecessor that also leads elsewhere would pay for work that is
        not done.
        """
        predecessors = set(self._blocks[name].predecessors)
        if name == ENTRY or name in self._loops or len(predecessors) < 2:
            return
        branching = [other for other in predecessors if self._branches(other)]
        # In `if (a) b; d`, the predecessors of d are b and a, and a branches. Only a pays, because
        # every path to b passes it. If two predecessors branch, `_leads_to` returns False, because
        # the other one has several successors.
        if branching and not self._leads_to(branching[0], name, predecessors - {branching[0]}):
            return
        predecessors = set(branching) or predecessors
        advance = self._work[name]
        if all(self._fits(advance, other) for other in predecessors):
            for other in predecessors:
                self._move(advance, other)
            self._work[name] = Work()

    def _leads_to(self, name: int, join: int, others: set[int]) -> bool:
        """Return whether a block leads only to a join, directly or through one of the others."""
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
        """Return whether only one other block leads to a block."""
        return name != ENTRY and set(self._blocks[name].predecessors) == {predecessor}

    def _likelihood(self, name: int, target: int) -> tuple[bool, int, int]:
        """Return a sort key: continuing is likelier than ending, staying in a loop than leaving."""
        block: Block = self._blocks[target]
        stays = sum(name in body and target in body for body in self._loops.values())
        return bool(block.successors), stays, self._work[target].total


def _is_long(work: Mapping[int, Work], *, has_calls: bool) -> bool:
    """Return whether a function does much work after its entry, where it checks the meter."""
    later_blocks = [block_work for name, block_work in work.items() if name != ENTRY]
    total, pushes = (
        sum(block_work.total for block_work in later_blocks),
        sum(block_work.pushes for block_work in later_blocks),
    )
    if has_calls:
        return total > _CALLER_MAX or pushes > _CALLER_PUSHES_MAX
    return total > _FUNCTION_MAX
