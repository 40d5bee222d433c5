"""The basic blocks of a function, and in which order they are gone through.

Source: `move-abstract-interpreter/src/control_flow_graph.rs`.
"""

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.module import Code
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.verifier.operands import BRANCHES, ENDS


@dataclass(frozen=True, slots=True)
class Block:
    """The instructions `start` to `end`, the latter included, and the starts that may follow."""

    start: int
    end: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """All blocks by their starts, those that nothing leads to included.

    `order` has the reachable ones in reverse postorder; `back_edges` are pairs of starts.
    """

    blocks: dict[int, Block]
    order: tuple[int, ...]
    back_edges: frozenset[tuple[int, int]]


def control_flow(code: Code) -> ControlFlow:
    """The control flow of code that is not empty and does not run past its end."""
    starts = _starts(code)
    blocks = {}
    for start, following in zip(starts, [*starts[1:], len(code.instructions)], strict=True):
        end = following - 1
        blocks[start] = Block(start, end, _successors(code, end))
    order, back_edges = _traverse(blocks)
    return ControlFlow(blocks, order, back_edges)


def _starts(code: Code) -> list[int]:
    starts = {0}
    count = len(code.instructions)
    for offset, instruction in enumerate(code.instructions):
        if instruction.opcode in BRANCHES or instruction.opcode in ENDS:
            starts.update(_targets(code, offset))
            if offset + 1 < count:
                starts.add(offset + 1)
    return sorted(starts)


def _targets(code: Code, offset: int) -> tuple[int, ...]:
    instruction = code.instructions[offset]
    operand = instruction.operand
    if instruction.opcode in BRANCHES:
        assert isinstance(operand, int)
        return (operand,)
    if instruction.opcode is Opcode.VARIANT_SWITCH:
        assert isinstance(operand, int)
        return tuple(sorted(set(code.jump_tables[operand].offsets)))
    return ()


def _successors(code: Code, end: int) -> tuple[int, ...]:
    targets = _targets(code, end)
    if code.instructions[end].opcode in ENDS:
        return targets
    return tuple(sorted({*targets, end + 1}))


def _traverse(
    blocks: dict[int, Block],
) -> tuple[tuple[int, ...], frozenset[tuple[int, int]]]:
    """Depth first from the entry: reverse postorder, and the edges to a block still open."""
    is_done: dict[int, bool] = {}
    postorder: list[int] = []
    back_edges: set[tuple[int, int]] = set()
    waiting = [0]
    while waiting:
        block = waiting.pop()
        if block not in is_done:
            is_done[block] = False
            waiting.append(block)
            for successor in blocks[block].successors:
                if successor not in is_done:
                    waiting.append(successor)
                elif not is_done[successor]:
                    back_edges.add((block, successor))
        elif not is_done[block]:
            is_done[block] = True
            postorder.append(block)
    return tuple(reversed(postorder)), frozenset(back_edges)
