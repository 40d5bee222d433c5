"""The control flow graph of a function: basic blocks, dominators, loops.

A block is named by the offset of its first instruction. Blocks that only branch are skipped, and
blocks that always follow each other are one block. Everything is worked out without recursion: a
function may have thousands of blocks.
"""

from msgspec import Struct, field

from nexus_tools.sui.bytecode import ENDS, Code, block_starts, successors
from nexus_tools.sui.localnet.vm.errors import InvalidCode

ENTRY = 0


class Block(Struct):
    """Instructions that are executed one after the other.

    `successors`: none after RET and ABORT; one; after a condition where it goes if the condition is
    true, and if it is false; after VARIANT_SWITCH one for each tag.
    """

    offsets: list[int]
    successors: tuple[int, ...]
    predecessors: list[int] = field(default_factory=list)


class ControlFlowGraph:
    """The blocks that can be reached, by name.

    Their order is one in which a block follows those that lead to it, loops aside.
    """

    def __init__(self, code: Code) -> None:
        self.blocks = _merge(_reachable(_split(code)))
        self.order = tuple(self.blocks)
        self.rank = {name: rank for rank, name in enumerate(self.order)}

    def joins(self) -> set[int]:
        """The blocks that several blocks lead to."""
        joins = {name for name, block in self.blocks.items() if len(block.predecessors) > 1}
        if self.blocks[ENTRY].predecessors:
            joins.add(ENTRY)
        return joins

    def dominators(self) -> dict[int, int]:
        """The immediate dominator of each block, the last one on every way to it.

        The entry is its own. In `if (a) b else c; d`, that of b, c and d is a: neither b nor c is
        on every way to d. Source: Cooper, Harvey, Kennedy, A Simple, Fast Dominance Algorithm
        (2001).
        """
        rank, found = self.rank, {ENTRY: ENTRY}
        changed = True
        while changed:
            changed = False
            for name in self.order[1:]:
                # What leads back in a loop comes later in the order, and is known next time.
                known = [p for p in self.blocks[name].predecessors if p in found]
                dominator = known[0]
                for other in known[1:]:
                    dominator = _common(dominator, other, found, rank)
                if found.get(name) != dominator:
                    found[name] = dominator
                    changed = True
        return found

    def loops(self, dominators: dict[int, int]) -> dict[int, set[int]]:
        """The natural loops: for each header the blocks of its loop, itself included."""
        loops: dict[int, set[int]] = {}
        for name, block in self.blocks.items():
            for target in block.successors:
                if self.rank[target] <= self.rank[name] and dominates(target, name, dominators):
                    self._collect(name, loops.setdefault(target, {target}))
        return loops

    def _collect(self, name: int, body: set[int]) -> None:
        """Add what leads to `name` without passing the header, which is in `body` already."""
        todo = [name]
        while todo:
            name = todo.pop()
            if name not in body:
                body.add(name)
                todo.extend(self.blocks[name].predecessors)


def dominates(name: int, other: int, dominators: dict[int, int]) -> bool:
    """Whether every way to `other` passes `name`."""
    while other != name:
        if other == ENTRY:
            return False
        other = dominators[other]
    return True


def _common(one: int, other: int, dominators: dict[int, int], rank: dict[int, int]) -> int:
    # Both go up to their nearest common dominator: whichever comes later in the order cannot
    # dominate the other, and goes first. Here b and c of `dominators` both go up to a.
    while one != other:
        while rank[one] > rank[other]:
            one = dominators[one]
        while rank[other] > rank[one]:
            other = dominators[other]
    return one


def _split(code: Code) -> dict[int, Block]:
    if not code.instructions:
        raise InvalidCode("a function has no code")
    if code.instructions[-1].opcode not in ENDS:
        raise InvalidCode("the code runs past its end")
    starts = block_starts(code)
    ends = [*starts[1:], len(code.instructions)]
    return {
        start: Block(list(range(start, end)), successors(code, end - 1))
        for start, end in zip(starts, ends, strict=True)
    }


def _reachable(blocks: dict[int, Block]) -> dict[int, Block]:
    """Those that the entry leads to, in reverse postorder, with their predecessors."""
    finished: list[int] = []
    seen = {ENTRY}
    # Backwards, so that the first successor, where the condition is true, comes first in the end.
    path = [(ENTRY, iter(reversed(blocks[ENTRY].successors)))]
    while path:
        name, successors = path[-1]
        following = next((target for target in successors if target not in seen), None)
        if following is None:
            finished.append(name)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(reversed(blocks[following].successors))))
    reached = {name: blocks[name] for name in reversed(finished)}
    for name, block in reached.items():
        for target in dict.fromkeys(block.successors):
            reached[target].predecessors.append(name)
    return reached


def _merge(blocks: dict[int, Block]) -> dict[int, Block]:
    """Append a block to the one before it, if that leads nowhere else and nothing else leads to it.

    The offsets of a block need not be consecutive then.
    """
    merged: dict[int, int] = {}
    for name in list(blocks):
        block = blocks[name]
        if name == ENTRY or len(block.predecessors) != 1:
            continue
        before = merged.get(block.predecessors[0], block.predecessors[0])
        if len(blocks[before].successors) != 1 or before == name:
            continue
        blocks[before].offsets.extend(block.offsets)
        blocks[before].successors = block.successors
        merged[name] = before
        del blocks[name]
    for block in blocks.values():
        block.predecessors = [merged.get(name, name) for name in block.predecessors]
    return blocks
