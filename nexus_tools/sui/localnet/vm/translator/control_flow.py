"""The control flow graph of a function, with its basic blocks, dominators and loops.

The name of a block is the offset of its first instruction. The graph omits unreachable blocks and
merges blocks that always follow each other. No algorithm here is recursive, because a function may
have thousands of blocks.
"""

from msgspec import Struct, field

from nexus_tools.sui.bytecode import ENDS, Code, block_starts, successors
from nexus_tools.sui.localnet.vm.errors import InvalidCode

ENTRY = 0


class Block(Struct):
    """A sequence of instructions that are executed in order.

    `successors` is empty after RET and ABORT. After a condition, `successors` contains the block
    for true and the block for false. After VARIANT_SWITCH, `successors` contains one block per tag.
    After other instructions, `successors` contains one block.
    """

    offsets: list[int]
    successors: tuple[int, ...]
    predecessors: list[int] = field(default_factory=list)


class ControlFlowGraph:
    """The reachable blocks by name, each after its predecessors, except in loops."""

    def __init__(self, code: Code) -> None:
        self.blocks = _merge(_reachable(_split(code)))
        self.order = tuple(self.blocks)
        self.rank = {name: rank for rank, name in enumerate(self.order)}

    def joins(self) -> set[int]:
        """Return the blocks that have several predecessors."""
        joins = {name for name, block in self.blocks.items() if len(block.predecessors) > 1}
        if self.blocks[ENTRY].predecessors:
            joins.add(ENTRY)
        return joins

    def dominators(self) -> dict[int, int]:
        """Return each block's immediate dominator, the last block on every path to it.

        The dominator of the entry is the entry itself. In `if (a) b else c; d`, the immediate
        dominator of b, c and d is a, because neither b nor c is on every path to d. Source: Cooper,
        Harvey, Kennedy, A Simple, Fast Dominance Algorithm (2001).
        """
        rank, dominators = self.rank, {ENTRY: ENTRY}
        changed = True
        while changed:
            changed = False
            for name in self.order[1:]:
                # Predecessors that jump back in a loop are later in the order. These predecessors
                # have a dominator only after the first iteration.
                processed = [p for p in self.blocks[name].predecessors if p in dominators]
                dominator = processed[0]
                for other in processed[1:]:
                    dominator = _common(dominator, other, dominators, rank)
                if dominators.get(name) != dominator:
                    dominators[name] = dominator
                    changed = True
        return dominators

    def loops(self, dominators: dict[int, int]) -> dict[int, set[int]]:
        """Return the natural loops.

        The result maps the header of each loop to all blocks of the loop, including the header.
        """
        loops: dict[int, set[int]] = {}
        for name, block in self.blocks.items():
            for target in block.successors:
                if self.rank[target] <= self.rank[name] and dominates(target, name, dominators):
                    self._collect(name, loops.setdefault(target, {target}))
        return loops

    def _collect(self, name: int, body: set[int]) -> None:
        """Add `name` and all blocks with a path to `name` that avoids the header.

        `body` already contains the header.
        """
        worklist = [name]
        while worklist:
            name = worklist.pop()
            if name not in body:
                body.add(name)
                worklist.extend(self.blocks[name].predecessors)


def dominates(name: int, other: int, dominators: dict[int, int]) -> bool:
    """Return whether every path to `other` passes through `name`."""
    while other != name:
        if other == ENTRY:
            return False
        other = dominators[other]
    return True


def _common(first: int, second: int, dominators: dict[int, int], rank: dict[int, int]) -> int:
    # Both blocks move up to their nearest common dominator. A block that is later in the order
    # cannot dominate the other block, so it moves first. In the example of `dominators`, b and c
    # move up to a.
    while first != second:
        while rank[first] > rank[second]:
            first = dominators[first]
        while rank[second] > rank[first]:
            second = dominators[second]
    return first


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
    """Return the reachable blocks in reverse postorder, and set their predecessors."""
    finished: list[int] = []
    visited = {ENTRY}
    # Successors are visited from last to first, so that the first successor (for a true condition)
    # is first in the result.
    path = [(ENTRY, iter(reversed(blocks[ENTRY].successors)))]
    while path:
        name, successors = path[-1]
        following = next((target for target in successors if target not in visited), None)
        if following is None:
            finished.append(name)
            path.pop()
        else:
            visited.add(following)
            path.append((following, iter(reversed(blocks[following].successors))))
    reachable = {name: blocks[name] for name in reversed(finished)}
    for name, block in reachable.items():
        for target in dict.fromkeys(block.successors):
            reachable[target].predecessors.append(name)
    return reachable


def _merge(blocks: dict[int, Block]) -> dict[int, Block]:
    """Merge a block into its only predecessor if the predecessor has no other successor.

    The offsets of a merged block need not be consecutive.
    """
    merged: dict[int, int] = {}
    for name in list(blocks):
        block = blocks[name]
        if name == ENTRY or len(block.predecessors) != 1:
            continue
        predecessor = merged.get(block.predecessors[0], block.predecessors[0])
        if len(blocks[predecessor].successors) != 1 or predecessor == name:
            continue
        blocks[predecessor].offsets.extend(block.offsets)
        blocks[predecessor].successors = block.successors
        merged[name] = predecessor
        del blocks[name]
    for block in blocks.values():
        block.predecessors = [merged.get(name, name) for name in block.predecessors]
    return blocks
