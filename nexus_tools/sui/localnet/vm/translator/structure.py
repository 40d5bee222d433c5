"""The conversion of a control flow graph to structured statements.

Code that a compiler generated from `if`, `while` and `loop` becomes `if` and `while True` again. A
block with a single predecessor is placed at the end of the predecessor. A join is placed after the
branches that meet in it, and a loop is placed at its entry. These rules fail for a jump out of two
loops, for two entries into a loop, and for too much nesting. In these cases, the target becomes a
*label*: a branch of an outer `while True` that the variable `label` selects. After each attempt,
all blocks are placed again with the labels found so far. The attempts terminate because a label
cannot fail again, and after some attempts all joins become labels.

For example, with block offsets, `while (a) { if (b) break; c }; d` is the graph 0 -> 2 or 9, 2 -> 9
or 5, 5 -> 0. The loop has the header 0 and the body 0, 2, 5. Both exits lead to 9, so 9 is the
*follow* of the loop, the block to which a `break` leads:

    while True:
        if not a: break     # 0
        if b: break         # 2
        c                   # 5: the end of the body leads to 0
    d                       # 9

If block 5 jumped to a block 7 in the middle of another loop, 7 would become a label:

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

# Python allows 100 levels of indentation and 20 nested loops.
_DEPTH_MAX = 40
_LOOPS_MAX = 12
_ATTEMPTS_MAX = 5
_STRUCTURED_BLOCKS_MAX = 2000
_LINEAR_DISPATCH_MAX = 4


class _Loop(Struct, frozen=True):
    """The innermost Python loop around a position. `break` leads to `follow`.

    A loop that is a branch of the outer `while True` has no `follow`, because its `break` leads to
    a label.
    """

    header: int
    follow: int | None


class _Place(Struct, frozen=True):
    """The position of a block: the next block in the source text, and the surrounding loops."""

    follow: int | None = None
    loop: _Loop | None = None
    structured: tuple[int, ...] = ()
    depth: int = 0

    def inner(self) -> "_Place":
        return replace(self, depth=self.depth + 1)


def structure(graph: ControlFlowGraph, bodies: Mapping[int, BlockBody]) -> list[Statement]:
    """Return the statements of a function, built from the blocks of its graph."""
    return _Structure(graph, bodies).statements()


class _Structure:
    def __init__(self, graph: ControlFlowGraph, bodies: Mapping[int, BlockBody]) -> None:
        self.graph = graph
        self.bodies = bodies
        self.labels: set[int] = set()
        # The state of this attempt: blocks that need a label, placed blocks, and blocks that follow
        # a loop.
        self.failed: set[int] = set()
        self.placed: set[int] = set()
        self.claimed: set[int] = set()
        if len(graph.blocks) > _STRUCTURED_BLOCKS_MAX:
            # Several attempts would take too long for such code, so every join becomes a label.
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
        """Return the joins to place after each block, which is the joins' immediate dominator."""
        merges: dict[int, list[int]] = {}
        for name in self.graph.order:
            # A jump back from inside a loop to its header is not counted as another entry.
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
            # If all joins are labels, every other block has one predecessor, so no placement can
            # fail.
            if attempts == _ATTEMPTS_MAX:
                self.labels |= self.graph.joins()
            result = self._attempt()
        return result

    def _attempt(self) -> list[Statement]:
        self.failed, self.placed, self.claimed = set(), set(), set()
        branches = {ENTRY: self._place(ENTRY, _Place())}
        # The statements of a label may jump to further labels.
        while missing := self.labels - branches.keys():
            for name in sorted(missing):
                branches[name] = self._place(name, _Place())
        if len(branches) == 1 and not self.labels:
            return branches[ENTRY]
        dispatch = _dispatch(sorted(branches.items()))
        return [Line(f"label = {ENTRY}"), Loop(dispatch, is_left=False)]

    def _place(self, name: int, place: _Place) -> list[Statement]:
        """Return the statements of a block and of all blocks placed inside or after it."""
        self.placed.add(name)
        if name not in self.loops:
            return self._place_body(name, place)
        if name in self.labels:
            # The loop is a branch of the dispatch, so its exits go through another label.
            body = self._place_body(name, _Place(name, _Loop(name, None), (), place.depth + 1))
            return [Loop(body, is_left=False)]
        follow = self._choose_follow(name)
        inside = _Place(name, _Loop(name, follow), (*place.structured, name), place.depth + 1)
        body = self._place_body(name, inside)
        after_loop = self._go_after_loop(name, follow, place) if follow is not None else []
        return [Loop(body, is_left=follow is not None), *after_loop]

    def _place_body(self, name: int, place: _Place) -> list[Statement]:
        merges = [
            merge
            for merge in self.merges.get(name, ())
            if merge not in self.labels and merge not in self.claimed
        ]
        # In the text, the first join follows the branches, and each further join follows the
        # previous join. The last of these blocks is the block's own follow. A branch that must skip
        # one of these blocks cannot fall through. `_go` detects this and makes the target a label.
        follows = [*merges, place.follow]
        statements = self._enter(name)
        statements += self._leave(name, replace(place, follow=follows[0]))
        for merge, follow in zip(merges, follows[1:], strict=True):
            if merge in self.placed:  # a branch already contains the join
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
            target_tags = tags[target]
            condition = (
                f"tag == {target_tags[0]}"
                if len(target_tags) == 1
                else f"tag in {tuple(target_tags)}"
            )
            statements = branch(condition, self._go(target, place), statements)
        return [Line(f"tag = {tag}"), *statements]

    def _go(self, target: int, place: _Place) -> list[Statement]:
        """Return the statements that lead from the end of a block to another block.

        The list is empty if the target is next in the source text. If another block leads to the
        target, the list is a jump. Otherwise, it contains the statements of the target.
        """
        if target == place.follow:
            return []
        if place.loop is not None and target in (place.loop.header, place.loop.follow):
            return [Exit("continue" if target == place.loop.header else "break")]
        if target in self.labels:
            return self._jump(target, place)
        if target in self.placed or self._is_join(target):
            self.failed.add(target)  # the statements of this attempt are discarded
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
        """Return a jump to a label, which goes through the outer `while True`.

        `break` and `continue` affect only one loop. A nested loop cannot reach the outer `while
        True`, so the loops around the jump must also become labels.
        """
        self.failed.update(place.structured)
        leave = "continue" if place.loop is None else "break"
        return [Line(f"label = {target}"), Exit(leave)]

    def _choose_follow(self, header: int) -> int | None:
        """Return the block to place after a loop, which is the target of most exits.

        Return None if the loop has no exits.
        """
        body = self.loops[header]
        exits: dict[int, int] = {}
        for name in body:
            for target in self.graph.blocks[name].successors:
                if target not in body:
                    for candidate in self._exit_candidates(header, target):
                        exits[candidate] = exits.get(candidate, 0) + 1
        if not exits:
            return None
        # If several targets have the same number of exits, prefer a successor of the header, as in
        # `while`, and then the last block.
        successors = self.graph.blocks[header].successors
        rank = self.graph.rank
        follow = max(exits, key=lambda name: (exits[name], name in successors, rank[name]))
        self.claimed.add(follow)
        return follow

    def _exit_candidates(self, header: int, target: int) -> Iterator[int]:
        """Yield an exit's target and its only successor, if they can follow the loop.

        For example, in `loop { if (a) { x; break }; if (b) { y; break } }; z`, the targets are x
        and y, and both lead to z. The blocks x and y can be placed inside the loop, before a
        `break`.
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
        # The targets of the surrounding statements must not be placed here, even if exits lead to
        # them.
        outer_targets = {place.follow}
        if place.loop is not None:
            outer_targets |= {place.loop.header, place.loop.follow}
        is_dominated = dominates(header, target, self.dominators) and target not in self.placed
        if is_dominated and target not in outer_targets:
            return self._place(target, place.inner())
        return self._go(target, place)


def _dispatch(branches: list[tuple[int, list[Statement]]]) -> list[Statement]:
    """Return `if` statements that select a branch by `label`, with a binary search if needed."""
    if len(branches) > _LINEAR_DISPATCH_MAX:
        middle = len(branches) // 2
        condition = f"label < {branches[middle][0]}"
        return [If(condition, _dispatch(branches[:middle]), _dispatch(branches[middle:]))]
    statements: list[Statement] = list(branches[-1][1])
    for name, body in reversed(branches[:-1]):
        statements = [If(f"label == {name}", body, statements)]
    return statements
