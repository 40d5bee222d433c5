"""Where a function takes what its blocks do from the meter.

Each block could take what it does when it is entered. It is quicker to take more at once, earlier,
and to give back what is not done after all: a block that branches pays for the block that is
entered most likely, and all others that it leads to take the difference. What is taken is then on
every way through the function what is done on it.

An example: `while (a) { b }; c`, where a does 7 of anything, b 11 and c 3. The head a branches, and
b and c are entered from nowhere else. b is likelier, because it stays in the loop: a takes 7 + 11,
b nothing, and c takes 3 - 11, which is 8 back. On the way a b a b a c, 18 + 18 + 18 - 8 = 46 are
taken, and 7 + 11 + 7 + 11 + 7 + 3 = 46 are done.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from nexus_tools.sui.localnet.vm.metering import Work
from nexus_tools.sui.localnet.vm.translator.control_flow import ENTRY, Block, ControlFlowGraph
from nexus_tools.sui.localnet.vm.translator.statement import Line

_CHECK = "if meter.left < 0.0: meter.settle()"

# What is paid in advance is paid in vain when an instruction fails: no more than this.
_ADVANCE_MAX = 256
# A block that does more is charged by a method, for which no number is too large: the fields of
# `Meter.left` are narrow.
_BLOCK_MAX = 2_048
# A function that can do more than this without a loop looks at the meter in every block. One that
# calls others is given less: two hundred callers may go on until one of them looks at the meter.
# With 300 units each that is 60 000, with 128 pushes 25 600: the meter's fields have room for both.
_FUNCTION_MAX = 2_048
_CALLER_MAX = 300
_CALLER_PUSHES_MAX = 128


class Back(Struct, frozen=True):
    """Work that was paid for in advance and is not done after all."""

    work: Work

    def __str__(self) -> str:
        return f"back: {self.work}"


class Charges:
    """The charges of a function's blocks, whose `work` is given.

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
        self._large = {name: done for name, done in work.items() if done.total > _BLOCK_MAX}
        self._work = {name: Work() if name in self._large else work[name] for name in work}
        self._is_long = _is_long(work, has_calls=has_calls)
        # From the end to the start, so that what is paid ahead once can go further ahead.
        for name in reversed(graph.order):
            self._pay_for_likely(name)
            self._pay_before(name)

    def lines(self, name: int, *, is_looked_at: bool) -> Iterator[Line]:
        """The lines with which a block begins; the meter is looked at in loops at least."""
        large, work = self._large.get(name), self._work[name]
        if large is not None:
            yield Line(f"meter.charge_work({large.instructions}, {large.pushes}, {large.size})")
        if work.left > 0:
            yield Line(f"meter.left -= {work.left!r}", note=work)
        elif work.left < 0:
            yield Line(f"meter.left += {-work.left!r}", note=Back(-work))
        if is_looked_at or self._is_long:
            yield Line(_CHECK)

    def _pay_for_likely(self, name: int) -> None:
        """Let a block that branches pay for one of those that only it leads to."""
        targets = list(dict.fromkeys(self._blocks[name].successors))
        if len(targets) < 2 or any(not self._has_only(target, name) for target in targets):
            return
        likely = max(targets, key=lambda target: self._likelihood(name, target))
        # The likely block takes nothing then, the others less than nothing if they do less.
        advance = self._work[likely]
        if not self._move(advance, name):
            return
        for target in targets:
            self._work[target] -= advance

    def _pay_before(self, name: int) -> None:
        """Let what leads to a join pay for it, if it leads nowhere else.

        In `if (a) b else c; d`, b and c pay for d. In `if (a) b; d`, a pays: it leads to d at once
        or by b. A block that branches elsewhere, too, would pay for what is not done.
        """
        before = set(self._blocks[name].predecessors)
        if name == ENTRY or name in self._loops or len(before) < 2:
            return
        branching = [other for other in before if self._branches(other)]
        # In `if (a) b; d`, what leads to d is b and a, which branches. a pays alone then, because
        # every way to b passes it. Where two branch, `_leads_to` says no: the other one is none
        # that only leads on.
        if branching and not self._leads_to(branching[0], name, before - {branching[0]}):
            return
        before = set(branching) or before
        advance = self._work[name]
        if all(self._fits(advance, other) for other in before):
            for other in before:
                self._move(advance, other)
            self._work[name] = Work()

    def _leads_to(self, name: int, join: int, others: set[int]) -> bool:
        """Whether a block leads to a join, at once or by one of the others, and nowhere else."""
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
        """Whether a block is entered from one other block alone."""
        return name != ENTRY and set(self._blocks[name].predecessors) == {predecessor}

    def _likelihood(self, name: int, target: int) -> tuple[bool, int, int]:
        """What goes on is likelier than what ends, and what stays in loops than what leaves."""
        block: Block = self._blocks[target]
        stays = sum(name in body and target in body for body in self._loops.values())
        return bool(block.successors), stays, self._work[target].total


def _is_long(work: Mapping[int, Work], *, has_calls: bool) -> bool:
    """Whether a function does much after its entry, where the meter is looked at."""
    after = [done for name, done in work.items() if name != ENTRY]
    total, pushes = sum(done.total for done in after), sum(done.pushes for done in after)
    if has_calls:
        return total > _CALLER_MAX or pushes > _CALLER_PUSHES_MAX
    return total > _FUNCTION_MAX
