"""From a control flow graph to structured statements.

What a compiler made of `if`, `while` and `loop` becomes `if` and `while True` again: a block is
placed where the only block that leads to it ends; a join after the branches that meet in it; a loop
where it is entered. Where that does not work out (a jump out of two loops, two ways into a loop,
too much nesting), the target becomes a *label*: a branch of an outer `while True`, chosen by the
variable `label`. The more labels, the fewer other rules are left that could fail, so that placing
all again with the labels found so far comes to an end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.vm.metering import Work
from nexus_tools.localnet.vm.translator.charging import Charges
from nexus_tools.localnet.vm.translator.control_flow import ENTRY, ControlFlowGraph, dominates
from nexus_tools.localnet.vm.translator.statement import (
    Exit,
    If,
    Line,
    Loop,
    Statement,
    branch,
)

# Python allows 100 levels of indentation and 20 loops in each other.
_DEPTH_MAX = 40
_LOOPS_MAX = 12
_ATTEMPTS_MAX = 5
_STRUCTURED_BLOCKS_MAX = 2000
_LINEAR_DISPATCH_MAX = 4


@dataclass(frozen=True, slots=True)
class BlockBody:
    """A translated block: what it does, its lines, and on what it depends where it leads.

    That is a condition, or the tag that VARIANT_SWITCH looks at, or nothing.
    """

    work: Work
    lines: list[Statement]
    condition: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class _Loop:
    """The innermost Python loop around a place; `follow` is where `break` leads to.

    A loop that is itself a branch of the outer loop has no `follow`: its `break` leads to a label.
    """

    header: int
    follow: int | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block is put: what comes after it in the text, and the loops around it."""

    follow: int | None = None
    loop: _Loop | None = None
    structured: tuple[int, ...] = ()
    depth: int = 0

    def inner(self) -> "_Place":
        return replace(self, depth=self.depth + 1)


def structure(graph: ControlFlowGraph, bodies: Mapping[int, BlockBody]) -> list[Statement]:
    """The statements of a function, from the blocks of its graph."""
    return _Structure(graph, bodies).statements()


class _Structure:
    def __init__(self, graph: ControlFlowGraph, bodies: Mapping[int, BlockBody]) -> None:
        self.graph = graph
        self.bodies = bodies
        self.labels: set[int] = set()
        self.failed: set[int] = set()
        self.placed: set[int] = set()
        self.claimed: set[int] = set()
        if len(graph.blocks) > _STRUCTURED_BLOCKS_MAX:
            self.labels = graph.joins()
            self.dominators: dict[int, int] = {}
            self.loops: dict[int, set[int]] = {}
        else:
            self.dominators = graph.dominators()
            self.loops = graph.loops(self.dominators)
        self.merges = self._find_merges()
        work = {name: body.work for name, body in bodies.items()}
        lines = [line for body in bodies.values() for line in body.lines]
        has_calls = any(isinstance(line, Line) and line.call is not None for line in lines)
        self.charges = Charges(graph, work, self.loops, has_calls=has_calls)

    def _find_merges(self) -> dict[int, list[int]]:
        """Joins by the block that they are placed after: their immediate dominator."""
        merges: dict[int, list[int]] = {}
        for name in self.graph.order:
            loop = self.loops.get(name, set())
            entering = [p for p in self.graph.blocks[name].predecessors if p not in loop]
            if len(entering) > 1 and name in self.dominators:
                merges.setdefault(self.dominators[name], []).append(name)
        return merges

    def statements(self) -> list[Statement]:
        attempts = 1
        result = self._attempt()
        while self.failed:
            attempts += 1
            self.labels |= self.failed
            if attempts == _ATTEMPTS_MAX:
                self.labels |= self.graph.joins()
            result = self._attempt()
        return result

    def _attempt(self) -> list[Statement]:
        self.failed, self.placed, self.claimed = set(), set(), set()
        branches = {ENTRY: self._place(ENTRY, _Place())}
        while missing := self.labels - branches.keys():
            for name in sorted(missing):
                branches[name] = self._place(name, _Place())
        if len(branches) == 1 and not self.labels:
            return branches[ENTRY]
        dispatch = _dispatch(sorted(branches.items()))
        return [Line(f"label = {ENTRY}"), Loop(dispatch, is_left=False)]

    def _place(self, name: int, place: _Place) -> list[Statement]:
        """The statements of a block and of everything that belongs to it."""
        self.placed.add(name)
        if name not in self.loops:
            return self._place_body(name, place)
        if name in self.labels:
            body = self._place_body(name, _Place(name, _Loop(name, None), (), place.depth + 1))
            return [Loop(body, is_left=False)]
        follow = self._choose_follow(name)
        inside = _Place(name, _Loop(name, follow), (*place.structured, name), place.depth + 1)
        body = self._place_body(name, inside)
        after = self._go_after_loop(name, follow, place) if follow is not None else []
        return [Loop(body, is_left=follow is not None), *after]

    def _place_body(self, name: int, place: _Place) -> list[Statement]:
        merges = [
            merge
            for merge in self.merges.get(name, ())
            if merge not in self.labels and merge not in self.claimed
        ]
        follows = [*merges, place.follow]
        statements = self._enter(name)
        statements += self._leave(name, replace(place, follow=follows[0]))
        for merge, follow in zip(merges, follows[1:], strict=True):
            if merge in self.placed:
                self.failed.add(merge)
            else:
                statements += self._place(merge, replace(place.inner(), follow=follow))
        return statements

    def _enter(self, name: int) -> list[Statement]:
        is_looked_at = name == ENTRY or name in self.loops or name in self.labels
        charge = self.charges.lines(name, is_looked_at=is_looked_at)
        return [*map(Line, charge), *self.bodies[name].lines]

    def _leave(self, name: int, place: _Place) -> list[Statement]:
        body, successors = self.bodies[name], self.graph.blocks[name].successors
        if not successors:
            return []
        if len(set(successors)) == 1:
            return self._go(successors[0], place)
        if body.condition is not None:
            then = self._go(successors[0], place)
            return branch(body.condition, then, self._go(successors[1], place))
        assert body.tag is not None
        return self._switch(body.tag, successors, place)

    def _switch(self, tag: str, successors: tuple[int, ...], place: _Place) -> list[Statement]:
        tags: dict[int, list[int]] = {}
        for number, target in enumerate(successors):
            tags.setdefault(target, []).append(number)
        *others, last = tags
        statements = self._go(last, place)
        for target in reversed(others):
            wanted = tags[target]
            condition = f"tag == {wanted[0]}" if len(wanted) == 1 else f"tag in {tuple(wanted)}"
            statements = branch(condition, self._go(target, place), statements)
        return [Line(f"tag = {tag}"), *statements]

    def _go(self, target: int, place: _Place) -> list[Statement]:
        """What leads from the end of a block to another block."""
        if target == place.follow:
            return []
        if place.loop is not None and target in (place.loop.header, place.loop.follow):
            return [Exit("continue" if target == place.loop.header else "break")]
        if target in self.labels:
            return self._jump(target, place)
        if target in self.placed or self._is_join(target):
            self.failed.add(target)
            return self._jump(target, place)
        if self._is_too_deep(target, place):
            self.labels.add(target)
            return self._jump(target, place)
        return self._place(target, place.inner())

    def _is_too_deep(self, target: int, place: _Place) -> bool:
        too_many_loops = target in self.loops and len(place.structured) >= _LOOPS_MAX
        return place.depth >= _DEPTH_MAX or too_many_loops

    def _is_join(self, name: int) -> bool:
        loop = self.loops.get(name, set())
        predecessors = self.graph.blocks[name].predecessors
        return sum(p not in loop for p in predecessors) > 1

    def _jump(self, target: int, place: _Place) -> list[Statement]:
        """To a label. A loop that is in another place than a label cannot be left like this."""
        self.failed.update(place.structured)
        leave = "continue" if place.loop is None else "break"
        return [Line(f"label = {target}"), Exit(leave)]

    def _choose_follow(self, header: int) -> int | None:
        """The block after a loop: where most of its exits lead to, other than to an end."""
        body = self.loops[header]
        exits: dict[int, int] = {}
        for name in body:
            for target in self.graph.blocks[name].successors:
                if target not in body:
                    for candidate in self._exit_candidates(header, target):
                        exits[candidate] = exits.get(candidate, 0) + 1
        if not exits:
            return None
        own = self.graph.blocks[header].successors
        rank = self.graph.rank
        follow = max(exits, key=lambda name: (exits[name], name in own, rank[name]))
        self.claimed.add(follow)
        return follow

    def _exit_candidates(self, header: int, target: int) -> Iterator[int]:
        """A target outside of a loop, and where it leads if all it does is to go there."""
        successors = self.graph.blocks[target].successors
        if target not in self.labels and (successors or self._is_join(target)):
            yield target
        if len(successors) == 1 and not self._is_join(target):
            join = successors[0]
            inside = join in self.loops[header] or not dominates(header, join, self.dominators)
            if not inside and join not in self.labels and self._is_join(join):
                yield join

    def _go_after_loop(self, header: int, target: int, place: _Place) -> list[Statement]:
        around = {place.follow}
        if place.loop is not None:
            around |= {place.loop.header, place.loop.follow}
        own = dominates(header, target, self.dominators) and target not in self.placed
        if own and target not in around:
            return self._place(target, place.inner())
        return self._go(target, place)


def _dispatch(branches: list[tuple[int, list[Statement]]]) -> list[Statement]:
    """Choose by `label`: one after the other, or by halves if there are many."""
    if len(branches) > _LINEAR_DISPATCH_MAX:
        middle = len(branches) // 2
        condition = f"label < {branches[middle][0]}"
        return [If(condition, _dispatch(branches[:middle]), _dispatch(branches[middle:]))]
    statements: list[Statement] = list(branches[-1][1])
    for name, body in reversed(branches[:-1]):
        statements = [If(f"label == {name}", body, statements)]
    return statements
