"""The edges that bring a value to a step. The blocks of both ends determine the kinds of edges.

    from        to          edge
    outside     for_each    normal: the same value for every iteration
    outside     loop        static: the same value in every round
    list        for_each    for_each: one element for each iteration
    for_each    outside     collect
    state       loop        as from outside for the first round, do_while for the others
    loop        outside     break

An edge crosses the border of one block, and may also enter a loop as the loop's initial value. A
value that would have to cross two borders is rejected. To pass the value, add a step that splits
the edge into two edges.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from nexus_tools.errors import UsageError
from nexus_tools.workflow.authoring.sketch import (
    Block,
    BlockKind,
    Collected,
    Constant,
    Element,
    First,
    Origin,
    PortValue,
    State,
    WorkflowInput,
)
from nexus_tools.workflow.document.document import EdgeKind


@dataclass(frozen=True, slots=True)
class Connection:
    """The source of a value. A port has an edge of a kind, and an input or a constant has no edge.

    The edge can start the target once for each iteration or round of the outermost `depth` blocks
    around it.
    """

    source: PortValue | WorkflowInput | Constant
    kind: EdgeKind | None = None
    depth: int = 0

    @property
    def is_moving(self) -> bool:
        """Whether the value can start a run, instead of only waiting until the run is ready."""
        return self.kind not in (None, EdgeKind.STATIC)


def connections(value: Origin, target: Block) -> list[Connection]:
    """Return the edges to a step of `target`. Each port that may provide the value has one edge.

    Raises `UsageError`: `value_from_other_block`, `value_not_collected`, `value_leaves_loop`,
    `value_moves_twice`, `alternatives_differ`.
    """
    return list(_ways(value, target, begins_loop=False))


def check_edges_to(value: Origin, target: Block) -> None:
    """Check the edges of a value, as far as this is possible before all loops are complete.

    Raises the errors of `connections`.
    """
    if isinstance(value, State):
        _check_is_in(value, target)
    else:
        connections(value, target)


def check_loop_start(value: Origin, loop: Block) -> None:
    """Check that a loop can start with the value. Raises the errors of `connections`."""
    if not isinstance(value, State):
        list(_ways(value, loop, begins_loop=True))


def _ways(value: Origin, target: Block, *, begins_loop: bool) -> Iterator[Connection]:
    match value:
        case Constant() | WorkflowInput():
            yield Connection(value)
        case PortValue():
            yield _from_port(value, target, begins_loop=begins_loop)
        case Element():
            yield from _of_elements(value, target, begins_loop=begins_loop)
        case Collected():
            yield from _of_collected(value, target, begins_loop=begins_loop)
        case State():
            yield from _of_state(value, target, begins_loop=begins_loop)
        case First():
            yield from _of_alternatives(value, target, begins_loop=begins_loop)


def _from_port(value: PortValue, target: Block, *, begins_loop: bool) -> Connection:
    source = value.draft.block
    shared = _shared_depth(source, target)
    if shared == source.depth:
        entered = _entered(target, shared, begins_loop=begins_loop)
        is_static = any(block.kind is BlockKind.LOOP for block in entered)
        return Connection(value, EdgeKind.STATIC if is_static else EdgeKind.NORMAL, shared)
    left = source.chain[shared]
    if left.kind is BlockKind.FOR_EACH:
        raise UsageError(
            "value_not_collected",
            f"{value} exists once for each element of {left}",
            hint=f"Collect the values into a list: flow.collect({value}).",
        )
    if source is not left:
        _refuse_second_move(value, "leaves two blocks")
    _check_leaves(value, left)
    _check_enters_no_loop(value, target, shared, begins_loop=begins_loop)
    return Connection(value, EdgeKind.BREAK, shared)


def _check_leaves(value: PortValue, loop: Block) -> None:
    """Check that the value is from the step that decides whether another round starts."""
    again = [later for state in loop.entered_by for later in _later(state)]
    deciding = [later for later in again if later.draft is value.draft]
    if not deciding:
        names = ", ".join(dict.fromkeys(later.draft.display_name for later in again))
        raise UsageError(
            "value_leaves_loop",
            f"{value} exists in each round of {loop}, but its step does not decide whether another"
            " round starts",
            hint=f"Return the value in a variant of {names} that ends the loop.",
        )
    if any(later.variant == value.variant for later in deciding):
        raise UsageError(
            "value_leaves_loop",
            f"the variant {value.draft.display_name}.{value.variant} starts another round of"
            f" {loop}",
            hint="Use another output variant of that step to leave the loop.",
        )


def _later(state: Origin) -> Sequence[PortValue]:
    return state.later if isinstance(state, State) else ()


def _of_elements(value: Element, target: Block, *, begins_loop: bool) -> Iterator[Connection]:
    _check_is_in(value, target)
    if _entered(target, value.block.depth, begins_loop=begins_loop):
        _refuse_second_move(value, f"also enters {target}")
    for port in value.items.leaves():
        assert isinstance(port, PortValue)
        yield Connection(port, EdgeKind.FOR_EACH, value.block.depth)


def _of_collected(value: Collected, target: Block, *, begins_loop: bool) -> Iterator[Connection]:
    _check_is_in(value, target)
    _check_enters_no_loop(value, target, value.block.depth, begins_loop=begins_loop)
    for port in value.each.leaves():
        assert isinstance(port, PortValue)
        yield Connection(port, EdgeKind.COLLECT, value.block.depth)


def _of_state(value: State, target: Block, *, begins_loop: bool) -> Iterator[Connection]:
    _check_is_in(value, target)
    if not value.later:
        yield from _ways(value.initial, target, begins_loop=begins_loop)
        return
    if target is not value.block:
        _refuse_second_move(value, f"also enters {target}")
    yield from _ways(value.initial, target, begins_loop=True)
    for port in value.later:
        yield Connection(port, EdgeKind.DO_WHILE, target.depth)


def _of_alternatives(value: First, target: Block, *, begins_loop: bool) -> Iterator[Connection]:
    found = [
        way
        for alternative in value.values
        for way in _ways(alternative, target, begins_loop=begins_loop)
    ]
    if not all(way.is_moving for way in found):
        _refuse_second_move(value, f"is also used in all rounds of {target}")
    if len({way.depth for way in found}) > 1:
        raise UsageError(
            "alternatives_differ",
            f"the alternatives of {value} come from different blocks",
            hint="Use alternatives from the same block as the step.",
        )
    yield from found


def _shared_depth(one: Block, other: Block) -> int:
    """Return the number of blocks that contain both of these blocks."""
    pairs = zip(one.chain, other.chain, strict=False)
    return next(
        (depth for depth, (mine, its) in enumerate(pairs) if mine is not its),
        min(one.depth, other.depth),
    )


def _entered(target: Block, depth: int, *, begins_loop: bool) -> tuple[Block, ...]:
    """Return the blocks that a value enters below a depth, except a loop that starts with it."""
    entered = target.chain[depth:]
    return entered[:-1] if begins_loop else entered


def _check_is_in(value: Origin, target: Block) -> None:
    if not target.is_in(value.block):
        raise UsageError(
            "value_from_other_block",
            f"{value} exists only inside {value.block}",
            hint="Use the value inside the `with` block, or pass it through a step.",
        )


def _check_enters_no_loop(value: Origin, target: Block, depth: int, *, begins_loop: bool) -> None:
    entered = _entered(target, depth, begins_loop=begins_loop)
    if any(block.kind is BlockKind.LOOP for block in entered):
        _refuse_second_move(value, f"is also used in all rounds of {target}")


def _refuse_second_move(value: Origin, second: str) -> NoReturn:
    raise UsageError(
        "value_moves_twice",
        f"{value} {second}, which needs a second edge",
        hint="Add an intermediate step that takes the value and returns it.",
    )
