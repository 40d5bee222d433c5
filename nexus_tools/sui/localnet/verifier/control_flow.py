"""The basic blocks of a function, their visiting order, and the check of loops.

Source: `move-abstract-interpreter/src/control_flow_graph.rs`,
`move-bytecode-verifier/src/control_flow.rs`.
"""

from collections.abc import Callable

from msgspec import Struct

from nexus_tools.sui.bytecode import Code, block_starts, successors
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.limits import LOOP_DEPTH_MAX


class Block(Struct, frozen=True):
    """A block: its first and last instruction, and the starts of its successors."""

    start: int
    end: int
    successors: tuple[int, ...]


class ControlFlow(Struct, frozen=True):
    """The blocks of a function by their starts, including unreachable blocks.

    `order` has the starts of reachable blocks in reverse postorder. Each back edge is a pair of
    starts.
    """

    blocks: dict[int, Block]
    order: tuple[int, ...]
    back_edges: frozenset[tuple[int, int]]


def control_flow(code: Code) -> ControlFlow:
    """Return the control flow of code that is not empty and does not run past its end."""
    starts = block_starts(code)
    blocks = {}
    for start, following in zip(starts, [*starts[1:], len(code.instructions)], strict=True):
        end = following - 1
        blocks[start] = Block(start, end, tuple(sorted(set(successors(code, end)))))
    order, back_edges = _traverse(blocks)
    return ControlFlow(blocks, order, back_edges)


def _traverse(
    blocks: dict[int, Block],
) -> tuple[tuple[int, ...], frozenset[tuple[int, int]]]:
    """Traverse depth-first and return the reverse postorder and the back edges."""
    is_finished: dict[int, bool] = {}
    postorder: list[int] = []
    back_edges: set[tuple[int, int]] = set()
    stack = [0]
    while stack:
        block = stack.pop()
        if block not in is_finished:
            is_finished[block] = False
            stack.append(block)
            for successor in blocks[block].successors:
                if successor not in is_finished:
                    stack.append(successor)
                elif not is_finished[successor]:
                    back_edges.add((block, successor))
        elif not is_finished[block]:
            is_finished[block] = True
            postorder.append(block)
    return tuple(reversed(postorder)), frozenset(back_edges)


_Refused = Callable[[str, str, int], VerificationError]


def verify_loops(flow: ControlFlow, refused: _Refused) -> None:
    """Raise `refused(status, message, offset)` for a loop with two entries or too deep nesting."""
    _Loops(flow, refused).verify()


class _Loops:
    """The loop check.

    The check numbers blocks in preorder, so a block's descendants follow the block.

    The check collapses loops into their headers, starting with the innermost loop. A loop may be
    entered only through its header, so all its blocks are descendants of the header. For example,
    in `while (a) { while (b) { c } }`, the inner loop of b and c is collapsed into b, with depth 1.
    Then a and b are collapsed into a, with depth 2. If a jump from outside led to c, the loop would
    have two entries, and the backward search from c would leave the descendants of b. Source:
    Tarjan, "Testing flow graph reducibility" (1974).
    """

    def __init__(self, flow: ControlFlow, refused: _Refused) -> None:
        self._refused = refused
        self._starts: list[int] = []
        self._last_descendant: dict[int, int] = {}
        self._back: dict[int, list[int]] = {}
        self._predecessors: dict[int, list[int]] = {}
        self._number(flow)
        self._head_of = list(range(len(self._starts)))
        self._depths = [0] * len(self._starts)

    def verify(self) -> None:
        for head in reversed(range(len(self._starts))):
            if self._back.get(head):
                self._collapse(head, self._body(head))

    def _number(self, flow: ControlFlow) -> None:
        numbers: dict[int, int] = {}
        # An entry consists of the block, the number of its predecessor or -1, and whether all its
        # descendants were visited. An edge to a block with unvisited descendants is a back edge.
        stack = [(0, -1, False)]
        while stack:
            start, origin, is_visited = stack.pop()
            if is_visited:
                self._last_descendant[numbers[start]] = len(self._starts) - 1
            elif start in numbers:
                is_open = numbers[start] not in self._last_descendant
                edges = self._back if is_open else self._predecessors
                edges.setdefault(numbers[start], []).append(origin)
            else:
                number = numbers[start] = len(self._starts)
                self._starts.append(start)
                self._predecessors[number] = [origin] if origin >= 0 else []
                stack.append((start, origin, True))
                stack.extend((item, number, False) for item in flow.blocks[start].successors)

    def _body(self, head: int) -> set[int]:
        """Return the blocks of a loop except its header.

        An inner loop is represented by its header.
        """
        body = {self._containing(node) for node in self._back[head]} - {head}
        frontier = list(body)
        while frontier:
            for predecessor in self._predecessors[frontier.pop()]:
                node = self._containing(predecessor)
                if not head <= node <= self._last_descendant[head]:
                    message = "a loop has two entries"
                    raise self._refused("INVALID_LOOP_SPLIT", message, self._starts[node])
                if node != head and node not in body:
                    body.add(node)
                    frontier.append(node)
        return body

    def _containing(self, node: int) -> int:
        """Return the header of the outermost collapsed loop around a block, or the block itself."""
        path = []
        while self._head_of[node] != node:
            path.append(node)
            node = self._head_of[node]
        for inner in path:
            self._head_of[inner] = node
        return node

    def _collapse(self, head: int, body: set[int]) -> None:
        depth = 1 + max(self._depths[node] for node in (head, *body))
        self._depths[head] = depth
        for node in body:
            self._head_of[node] = head
        if depth > LOOP_DEPTH_MAX:
            message = f"loops are nested more than {LOOP_DEPTH_MAX} levels deep"
            raise self._refused("LOOP_MAX_DEPTH_REACHED", message, self._starts[head])
