"""The unfinished workflow of an author: blocks, steps, and the values that connect them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from operator import or_
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow.authoring.source_line import Line
from nexus_tools.workflow.document.document import (
    AFTER,
    DEFAULT_PARALLEL,
    OutputPort,
    PostFailureAction,
    Verifier,
    VertexKind,
)
from nexus_tools.workflow.interfaces import ANY, JsonTypes, ToolPorts

_MAX_SHOWN = 80


class BlockKind(Enum):
    """The kind of a block: its steps run once, for each element, or in rounds."""

    WORKFLOW = "workflow"
    FOR_EACH = "for_each"
    LOOP = "loop"


@dataclass(eq=False)
class Block:
    """A group of steps that run together: the whole workflow, a `for_each`, or a `loop`.

    `entered_by` has the elements of a `for_each`, or the states of a `loop`.
    """

    kind: BlockKind
    line: Line
    parent: "Block | None" = None
    parallel: int = DEFAULT_PARALLEL
    is_open: bool = True
    entered_by: "list[Origin]" = field(default_factory=list)

    @property
    def chain(self) -> "tuple[Block, ...]":
        """The enclosing blocks and this block, outermost first.

        The tuple is empty for the workflow.
        """
        return (*self.parent.chain, self) if self.parent else ()

    @property
    def depth(self) -> int:
        """The number of blocks around the block's steps."""
        return len(self.chain)

    @property
    def changing(self) -> "list[State]":
        """The states of a loop that change after the first round.

        Raises `UsageError` with code `loop_without_again` if no state changes.
        """
        found = [origin for origin in self.entered_by if isinstance(origin, State) and origin.later]
        if not found:
            raise UsageError(
                "loop_without_again",
                "the loop never starts another round",
                hint="Call loop.again(…) with ports of the variant that starts another round.",
            )
        return found

    def is_in(self, other: "Block") -> bool:
        """Return whether this block is the other block, or is inside it."""
        return not other.parent or other in self.chain

    def __str__(self) -> str:
        return f"the {self.kind.value} of line {self.line.number}"


@dataclass(frozen=True, eq=False, repr=False)
class Origin:
    """The origin of a value that will exist when the workflow runs.

    `str(origin)` is the author's name for the value.
    """

    sketch: "Sketch"
    block: Block
    shape: JsonTypes

    def leaves(self) -> "Iterator[Origin]":
        """Yield the possible origins of the value, without alternatives and loop values."""
        yield self


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Origin):
    """A constant that the author has written."""

    data: Any

    def __str__(self) -> str:
        return repr(self.data)[:_MAX_SHOWN]


@dataclass(frozen=True, eq=False, repr=False)
class WorkflowInput(Origin):
    """An input with which an execution starts."""

    name: str

    def __str__(self) -> str:
        return f"the input {self.name}"


@dataclass(frozen=True, eq=False, repr=False)
class PortValue(Origin):
    """The value of a port in a variant of a step."""

    draft: "Draft"
    variant: str
    port: str

    @property
    def output(self) -> OutputPort:
        """The corresponding port in the document."""
        return OutputPort(self.draft.name, self.variant, self.port)

    def __str__(self) -> str:
        return f"{self.draft.display_name}.{self.variant}.{self.port}"


@dataclass(frozen=True, eq=False, repr=False)
class Element(Origin):
    """The element of a list in a `for_each` over the list."""

    items: Origin

    def __str__(self) -> str:
        return f"the element of {self.items}"


@dataclass(frozen=True, eq=False, repr=False)
class Collected(Origin):
    """The list of values from the iterations of a `for_each`, in order."""

    each: Origin

    def __str__(self) -> str:
        return f"the collected {self.each}"


@dataclass(frozen=True, eq=False, repr=False)
class State(Origin):
    """A value with which each round of a loop starts.

    `again` replaces the initial value in later rounds.
    """

    name: str
    initial: Origin
    line: Line
    later: list[PortValue] = field(default_factory=list)

    def leaves(self) -> Iterator[Origin]:
        """Yield the origins of the value in the first round, and then in later rounds."""
        yield from self.initial.leaves()
        yield from self.later

    def __str__(self) -> str:
        return f"{self.block.line.variable or 'loop'}.{self.name}"


@dataclass(frozen=True, eq=False, repr=False)
class First(Origin):
    """The first value to arrive of several alternatives."""

    values: tuple[Origin, ...]

    def leaves(self) -> Iterator[Origin]:
        """Yield the alternatives."""
        for value in self.values:
            yield from value.leaves()

    def __str__(self) -> str:
        return f"first({', '.join(map(str, self.values))})"


@dataclass(frozen=True, slots=True)
class Binding:
    """The binding of a value to an input port, and its line."""

    value: Origin
    line: Line


@dataclass(eq=False)
class Draft:
    """A step that is being written. `ports` is None if only the FQN of the tool is known."""

    name: str
    fqn: ToolFqn
    kind: VertexKind
    ports: ToolPorts | None
    block: Block
    line: Line
    bindings: dict[str, Binding] = field(default_factory=dict)
    attempts: int = 1
    retry_after_ms: int = 0
    post_failure_action: PostFailureAction | None = None
    verifier: Verifier = Verifier.NONE

    @property
    def display_name(self) -> str:
        """The author's name for the step: its variable, or the name of its vertex."""
        return self.line.variable or self.name


@dataclass(eq=False)
class Sketch:
    """The unfinished workflow, with all parts that the author has added."""

    root: Block
    post_failure_action: PostFailureAction | None = None
    drafts: list[Draft] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    inputs: dict[str, Binding] = field(default_factory=dict)
    outputs: dict[str, Binding] = field(default_factory=dict)

    @property
    def block(self) -> Block:
        """The innermost open block, to which new steps belong."""
        return next((block for block in reversed(self.blocks) if block.is_open), self.root)

    def constant(self, data: Any) -> Constant:
        """Return the origin of a constant."""
        return Constant(self, self.root, ANY, data)


def order_port(taken: Collection[str]) -> str:
    """Return a name for a new order-only port that is not among these ports of the step."""
    count = sum(port.startswith(AFTER) for port in taken)
    return f"{AFTER}_{count + 1}" if count else AFTER


def first_of(sketch: Sketch, values: Sequence[Origin]) -> First:
    """Return the origin of the first value to arrive of several alternatives.

    Raises `UsageError` (`alternatives_invalid`) if a value has no port, or if two values can arrive
    in the same run.
    """
    ports = [value for value in values if isinstance(value, PortValue)]
    if len(ports) < len(values) or len(ports) < 2:
        raise UsageError(
            "alternatives_invalid",
            "first needs two or more values of steps",
            hint="Name a port of each step: flow.first(answer.yes.note, answer.no.note).",
        )
    if len({(port.draft, port.variant) for port in ports}) < len(ports):
        raise UsageError(
            "alternatives_invalid",
            f"several of {', '.join(map(str, ports))} arrive at the same time",
            hint="Use one port of each variant.",
        )
    shape = reduce(or_, (port.shape for port in ports))
    blocks = {port.block for port in ports}
    block = ports[0].block if len(blocks) == 1 else sketch.root
    return First(sketch, block, shape, tuple(ports))
