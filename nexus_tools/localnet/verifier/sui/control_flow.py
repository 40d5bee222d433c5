"""The blocks of a function, in the order in which an analysis visits them.

Source: `move-abstract-interpreter/src/control_flow_graph.rs`.
"""

from dataclasses import dataclass

from nexus_tools.localnet.bytecode import Opcode
from nexus_tools.localnet.bytecode.module import Code, Instruction

_ENDS = frozenset({Opcode.RET, Opcode.ABORT})
_CONDITIONAL = frozenset({Opcode.BR_TRUE, Opcode.BR_FALSE})
_BRANCHES = frozenset({*_CONDITIONAL, Opcode.BRANCH})
_BREAKS = frozenset({*_ENDS, *_BRANCHES, Opcode.VARIANT_SWITCH})


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions that run one after the other; `successors` are places in the order."""

    start: int
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]


def blocks_of(code: Code) -> tuple[Block, ...]:
    """The blocks that can be reached, in reverse postorder: a jump back is to a lower place."""
    starts = _starts(code)
    ends = dict(zip(starts, [*starts[1:], len(code.instructions)], strict=True))
    successors = {start: _targets(code, end) for start, end in ends.items()}
    order = _reverse_postorder(successors)
    place = {start: index for index, start in enumerate(order)}
    return tuple(
        Block(
            start,
            code.instructions[start : ends[start]],
            tuple([place[target] for target in successors[start]]),
        )
        for start in order
    )


def _starts(code: Code) -> list[int]:
    starts = {0}
    for offset, instruction in enumerate(code.instructions):
        if instruction.opcode in _BREAKS:
            starts.update(_targets(code, offset + 1))
            starts.add(offset + 1)
    return sorted(start for start in starts if start < len(code.instructions))


def _targets(code: Code, end: int) -> tuple[int, ...]:
    """Where the code may go on after the instruction before `end`."""
    instruction = code.instructions[end - 1]
    opcode, operand = instruction.opcode, instruction.operand
    if opcode in _ENDS:
        return ()
    if opcode is Opcode.VARIANT_SWITCH:
        assert isinstance(operand, int)
        return tuple(sorted(set(code.jump_tables[operand].offsets)))
    targets = set()
    if opcode in _BRANCHES:
        assert isinstance(operand, int)
        targets.add(operand)
    if opcode is not Opcode.BRANCH and end < len(code.instructions):
        targets.add(end)
    return tuple(sorted(targets))


def _reverse_postorder(successors: dict[int, tuple[int, ...]]) -> list[int]:
    order: list[int] = []
    if not successors:
        return order
    seen = {0}
    path = [(0, iter(successors[0]))]
    while path:
        block, targets = path[-1]
        target = next((target for target in targets if target not in seen), None)
        if target is None:
            order.append(block)
            path.pop()
        else:
            seen.add(target)
            path.append((target, iter(successors[target])))
    return order[::-1]
