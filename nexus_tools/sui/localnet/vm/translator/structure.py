"""From a control flow graph to structured statements.

What a compiler made of `if`, `while` and `loop` becomes `if` and `while True` again: a block is
placed where the only block that leads to it ends; a join after the branches that meet in it; a loop
where it is entered. Where that does not work out (a jump out of two loops, two ways into a loop,
too much nesting), the target becomes a *label*: a branch of an outer `while True`, chosen by the
variable `label`. The more labels, the fewer other rules are left that could fail, so that placing
all again with the labels found so far comes to an end.

An example, with the offsets of blocks. `while (a) { if (b) break; c }; d` is the graph 0 -> 2 or 9,
2 -> 9 or 5, 5 -> 0. The loop has the head 0 and the body 0, 2, 5. Both ways out of it lead to 9, so
that 9 is its *follow*, the block that a `break` leads to:

    while True:
        if not a: break     # 0
        if b: break         # 2
        c                   # 5: that it leads to 0 is what the end of the body says
    d                       # 9

Were there a jump from 5 into the middle of another loop, its target would be a label:

    label = 0
    while True:
        if label == 0: ... label = 7; continue ...
        else: ...           # 7
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.localnet.vm.translator.charging import Charges
from nexus_tools.sui.localnet.vm.translator.control_flow import ENTRY, ControlFlowGraph, dominates
from nexus_tools.sui.localnet.vm.translator.statement import (
    BlockBody,
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


class _Loop(Struct, frozen=True):
    """The innermost Python loop around a place; `follow` is where `break` leads to.

    A loop that is itself a branch of the outer loop has no `follow`: its `break` leads to a label.
    """

    header: int
    follow: int | None


class _Place(Struct, frozen=True):
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
        # What this attempt has found to need a label, has placed, and has as the follow of a loop.
        self.failed: set[int] = set()
        self.placed: set[int] = set()
        self.claimed: set[int] = set()
        if len(graph.blocks) > _STRUCTURED_BLOCKS_MAX:
            # Such code is not worth the time of several attempts: every join is a label at once.
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
            # What leads back to the head of a loop from inside is no second way to it.
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
            # With all joins as labels every other block has one way in, and none can fail.
            if attempts == _ATTEMPTS_MAX:
                self.labels |= self.graph.joins()
            result = self._attempt()
        return result

    def _attempt(self) -> list[Statement]:
        self.failed, self.placed, self.claimed = set(), set(), set()
        branches = {ENTRY: self._place(ENTRY, _Place())}
        # What is placed for a label may jump to further ones.
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
            # The loop is a branch of the dispatch: who leaves it goes by another label.
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
        # In the text, the branches are followed by the first join, each join by the next one, and
        # the last by what follows the block anyway. Whoever has to pass over one of them cannot
        # fall through: `_go` finds that out, and makes the target a label.
        follows = [*merges, place.follow]
        statements = self._enter(name)
        statements += self._leave(name, replace(place, follow=follows[0]))
        for merge, follow in zip(merges, follows[1:], strict=True):
            if merge in self.placed:  # by a branch that took it for its own
                self.failed.add(merge)
            else:
                statements += self._place(merge, replace(place.inner(), follow=follow))
        return statements

    def _enter(self, name: int) -> list[Statement]:
        is_looked_at = name == ENTRY or name in self.loops or name in self.labels
        charge = self.charges.lines(name, is_looked_at=is_looked_at)
        return [*charge, *self.bodies[name].lines]

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
        """What leads from the end of a block to another block.

        Nothing, if it is the next in the text; or a jump; or the block itself, if nothing else
        leads to it.
        """
        if target == place.follow:
            return []
        if place.loop is not None and target in (place.loop.header, place.loop.follow):
            return [Exit("continue" if target == place.loop.header else "break")]
        if target in self.labels:
            return self._jump(target, place)
        if target in self.placed or self._is_join(target):
            self.failed.add(target)  # the statements of this attempt are thrown away
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
        """To a label: back to the dispatch.

        `break` and `continue` concern one loop. From a loop inside another the dispatch cannot be
        reached, so that the loops around have to be labels themselves.
        """
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
        # Between equals, it is where the head itself leads, as in `while`; then what comes last.
        own = self.graph.blocks[header].successors
        rank = self.graph.rank
        follow = max(exits, key=lambda name: (exits[name], name in own, rank[name]))
        self.claimed.add(follow)
        return follow

    def _exit_candidates(self, header: int, target: int) -> Iterator[int]:
        """A target outside of a loop, and where it leads if all it does is to go there.

        In `loop { if (a) { x; break }; if (b) { y; break } }; z` the targets are x and y, and z is
        where both lead: x and y can stand inside, before a `break`.
        """
        successors = self.graph.blocks[target].successors
        if target not in self.labels and (successors or self._is_join(target)):
            yield target
        if len(successors) == 1 and not self._is_join(target):
            join = successors[0]
            inside = join in self.loops[header] or not dominates(header, join, self.dominators)
            if not inside and join not in self.labels and self._is_join(join):
                yield join

    def _go_after_loop(self, header: int, target: int, place: _Place) -> list[Statement]:
        # What the text around leads to is not placed here, however the loop is left.
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
