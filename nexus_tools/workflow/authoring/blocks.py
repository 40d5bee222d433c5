"""The `with` blocks of a workflow.

`for_each` runs steps for each element, `loop` runs steps in rounds.
"""

from collections.abc import Collection, Mapping
from typing import NoReturn, Self

from nexus_tools.errors import UsageError, ValidationError
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.workflow.authoring.connections import check_loop_start
from nexus_tools.workflow.authoring.input_binding import check_types, to_origin
from nexus_tools.workflow.authoring.sketch import (
    Block,
    BlockKind,
    Element,
    PortValue,
    Sketch,
    State,
)
from nexus_tools.workflow.authoring.source_line import UnknownNameError, caller_line
from nexus_tools.workflow.authoring.value import IncompleteValue, Value
from nexus_tools.workflow.document.document import MAX_PARALLEL
from nexus_tools.workflow.interfaces import LIST

_TO_ITERATE = "Write `with flow.for_each(…) as element:`."


class _With(IncompleteValue):
    """A `with` block. The steps that are added inside the block belong to it."""

    def __init__(self, sketch: Sketch, kind: BlockKind) -> None:
        self._sketch = sketch
        self._block = Block(kind, caller_line(), sketch.block, sketch.block.parallel)

    def _enter(self) -> None:
        if self._block in self._sketch.blocks or self._sketch.block is not self._block.parent:
            raise self._block.line.of(
                UsageError(
                    "block_not_entered",
                    f"the {self._block.kind.value} was entered twice, or inside another block",
                    hint="Write the call in a `with` statement.",
                )
            )
        self._sketch.blocks.append(self._block)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._block.is_open = False
        if kind is None:
            self._check_complete()

    def _check_complete(self) -> None:
        """Check at the end of the block that no required part is missing."""

    def _name(self) -> str:
        return str(self._block)


class _ForEach(_With):
    """A block of steps that run once for each element of the lists."""

    def __init__(self, sketch: Sketch, lists: tuple[Value, ...], parallel: int | None) -> None:
        super().__init__(sketch, BlockKind.FOR_EACH)
        with self._block.line:
            elements = [self._element_of(items) for items in lists]
            self._block.parallel = _checked_parallel(parallel, self._block.parallel)
        self._block.entered_by.extend(elements)
        self._elements = tuple(map(Value, elements))

    def _element_of(self, items: Value) -> Element:
        origin = to_origin(self._sketch, items)
        for port in origin.leaves():
            if not isinstance(port, PortValue) or port.draft.block is not self._block.parent:
                raise UsageError(
                    "list_from_other_block",
                    f"{port} is not a value of a step in the same block as the for_each",
                    hint="Add a step in that block that takes the value and returns the list.",
                )
        if not origin.shape.may_be(LIST):
            raise ValidationError(
                "not_a_list",
                f"{origin} is {origin.shape}, not an array",
                hint="Pass a port with a list to for_each.",
            )
        return Element(self._sketch, self._block, origin.shape.element, origin)

    def _as_a_value(self) -> str:
        return _TO_ITERATE

    def __iter__(self) -> NoReturn:
        message = f"{self._block} is not iterable: write its steps once, in a `with` block"
        raise self._block.line.of(UsageError("block_not_entered", message, hint=_TO_ITERATE))


class ForEach(_ForEach):
    """A `with` block whose steps run once for each element of a list."""

    def __enter__(self) -> Value:
        """Return the placeholder for an element."""
        self._enter()
        return self._elements[0]


class ForEachZipped(_ForEach):
    """A `with` block whose steps run once for each tuple of elements of several lists."""

    def __enter__(self) -> tuple[Value, ...]:
        """Return one placeholder for each list, which represents an element of this list."""
        self._enter()
        return self._elements


def _checked_parallel(parallel: int | None, otherwise: int) -> int:
    if parallel is None:
        return otherwise
    if not isinstance(parallel, int) or not 1 <= parallel <= MAX_PARALLEL:
        raise UsageError(
            "parallel_invalid",
            f"parallel must be an integer from 1 to {MAX_PARALLEL}, got {parallel!r}",
            hint="Omit the argument to use the default.",
        )
    return parallel


class Loop(_With):
    """A `with` block whose steps run in rounds. `again` declares when another round starts.

    The attributes (or items) of a loop are the values with which a round starts.
    """

    def __init__(self, sketch: Sketch, state: Mapping[str, object]) -> None:
        super().__init__(sketch, BlockKind.LOOP)
        with self._block.line:
            self._states = {name: self._state(name, given) for name, given in state.items()}
        self._block.entered_by.extend(self._states.values())
        self._values = {name: Value(state) for name, state in self._states.items()}
        self._named: frozenset[str] = frozenset()

    def _state(self, name: str, given: object) -> State:
        initial = to_origin(self._sketch, given)
        check_loop_start(initial, self._block)
        return State(self._sketch, self._block, initial.shape, name, initial, self._block.line)

    def _as_a_value(self) -> str:
        first = next(iter(self._states), "value")
        return f"Write `with flow.loop(…) as loop:`, and name a value, such as loop.{first}."

    def __enter__(self) -> Self:
        """Return the loop itself."""
        self._enter()
        return self

    def again(self, **state: Value) -> None:
        """Start another round with new values, which are ports of one variant of a step.

        When the step ends in that variant, a round starts with the port values. A loop value that
        you do not pass keeps its value of the first round. Values leave the loop through another
        variant of the step. If you call the method several times, each call must pass the same
        names, and must use ports of a different variant.

        Raises:
            UsageError: With code `again_invalid` or `again_differs`.
            ValidationError: With code `value_mismatches`.
        """
        with caller_line():
            self._check_is_open()
            given = {name: self._later(name, value) for name, value in state.items()}
            ports = {name: port for name, port in given.items() if port is not None}
            self._check_one_branch(ports.values())
            self._check_same_names(frozenset(ports))
            for name, port in ports.items():
                self._check_takers(self._states[name], port)
        for name, port in ports.items():
            self._states[name].later.append(port)
        self._named = frozenset(ports)

    def _check_is_open(self) -> None:
        if not self._block.is_open:
            raise UsageError(
                "again_invalid",
                f"{self._block} has ended",
                hint="Call `again` inside the `with` block of the loop.",
            )

    def _later(self, name: str, value: object) -> PortValue | None:
        """Return the port whose value later rounds use, or None if the value does not change."""
        if name not in self._states:
            raise UsageError(
                "again_invalid",
                f"the loop has no value {name!r}",
                hint=suggestion(name, self._states, otherwise=f"It has {', '.join(self._states)}."),
            )
        given = to_origin(self._sketch, value)
        if given is self._states[name]:
            return None
        if not isinstance(given, PortValue) or given.draft.block is not self._block:
            raise UsageError(
                "again_invalid",
                f"{given} is not a value of a step in this loop",
                hint="Pass ports of the step that decides about the next round.",
            )
        return given

    def _check_one_branch(self, ports: Collection[PortValue]) -> None:
        branches = {(port.draft, port.variant) for port in ports}
        before = {
            (port.draft, port.variant) for state in self._states.values() for port in state.later
        }
        if len(branches) != 1 or branches & before:
            raise UsageError(
                "again_invalid",
                "each call of again must use its own variant, and only ports of this variant",
                hint="Let one step return everything that the next round needs.",
            )

    def _check_same_names(self, names: frozenset[str]) -> None:
        if self._named and self._named != names:
            differ = ", ".join(sorted(self._named ^ names))
            raise UsageError(
                "again_differs",
                f"only some calls of again pass {differ}",
                hint="Pass the same names in each call.",
            )

    def _check_takers(self, state: State, port: PortValue) -> None:
        for draft in self._sketch.drafts:
            for name, feed in draft.bindings.items():
                if feed.value is state:
                    check_types(draft, name, port)

    def _check_complete(self) -> None:
        with self._block.line:
            _ = self._block.changing

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._states:
            raise UnknownNameError.of(
                ValidationError(
                    "state_unknown",
                    f"the loop has no value {name!r}",
                    hint=suggestion(
                        name, self._states, otherwise=f"It has {', '.join(self._states)}."
                    ),
                )
            )
        return self._values[name]

    def __getitem__(self, name: str) -> Value:
        return self.__getattr__(name)

    def __dir__(self) -> list[str]:
        return ["again", *self._states]
