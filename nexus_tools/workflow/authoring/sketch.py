"""What the author has said so far: blocks, steps, and the values that go from one to another."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from operator import or_
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow.authoring.lines import Line
from nexus_tools.workflow.document.document import (
    AFTER,
    DEFAULT_PARALLEL,
    OutputPort,
    PostFailureAction,
    Verifier,
    VertexKind,
)
from nexus_tools.workflow.interfaces import ANY, Shape, ToolPorts

_MAX_SHOWN = 80


class BlockKind(Enum):
    """What is done with the steps of a block."""

    WORKFLOW = "workflow"
    FOR_EACH = "for_each"
    LOOP = "loop"


@dataclass(eq=False)
class Block:
    """Steps that run together: all of the workflow, those of a `for_each`, those of a `loop`.

    `entered_by` are the elements of a `for_each` or the state of a `loop`.
    """

    kind: BlockKind
    line: Line
    parent: "Block | None" = None
    parallel: int = DEFAULT_PARALLEL
    is_open: bool = True
    entered_by: "list[Origin]" = field(default_factory=list)

    @property
    def chain(self) -> "tuple[Block, ...]":
        """The blocks around its steps, outermost first, itself included; the workflow has none."""
        return (*self.parent.chain, self) if self.parent else ()

    @property
    def depth(self) -> int:
        """How many blocks are around its steps."""
        return len(self.chain)

    @property
    def changing(self) -> "list[State]":
        """The state of a loop that later rounds have otherwise than the first.

        Raises `UsageError` with code `loop_without_again` if there is none.
        """
        found = [each for each in self.entered_by if isinstance(each, State) and each.later]
        if not found:
            raise UsageError(
                "loop_without_again",
                "the loop never goes round again",
                hint="write loop.again(…) with the ports of the variant in which it does",
            )
        return found

    def is_in(self, other: "Block") -> bool:
        """Whether its steps are steps of the other block, too."""
        return not other.parent or other in self.chain

    def __str__(self) -> str:
        return f"the {self.kind.value} of line {self.line.number}"


@dataclass(frozen=True, eq=False, repr=False)
class Origin:
    """Where a value comes from that will be there when the workflow runs: a place and a shape.

    As text it is what the author calls it.
    """

    sketch: "Sketch"
    block: Block
    shape: Shape

    def leaves(self) -> "Iterator[Origin]":
        """The origins of which it is one: itself, but for alternatives and states."""
        yield self


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Origin):
    """A value that the author has written down."""

    data: Any

    def __str__(self) -> str:
        return repr(self.data)[:_MAX_SHOWN]


@dataclass(frozen=True, eq=False, repr=False)
class GivenInput(Origin):
    """A value with which an execution begins."""

    name: str

    def __str__(self) -> str:
        return f"the input {self.name}"


@dataclass(frozen=True, eq=False, repr=False)
class PortValue(Origin):
    """What a step gives in a port of one of its variants."""

    draft: "Draft"
    variant: str
    port: str

    @property
    def output(self) -> OutputPort:
        """The port in the document."""
        return OutputPort(self.draft.name, self.variant, self.port)

    def __str__(self) -> str:
        return f"{self.draft.called}.{self.variant}.{self.port}"


@dataclass(frozen=True, eq=False, repr=False)
class Element(Origin):
    """An element of a list, in its `for_each`."""

    items: Origin

    def __str__(self) -> str:
        return f"the element of {self.items}"


@dataclass(frozen=True, eq=False, repr=False)
class Collected(Origin):
    """What the iterations of a `for_each` gave, in order."""

    each: Origin

    def __str__(self) -> str:
        return f"the collected {self.each}"


@dataclass(frozen=True, eq=False, repr=False)
class State(Origin):
    """What a loop begins with, and what `again` puts in its place."""

    name: str
    initial: Origin
    line: Line
    later: list[PortValue] = field(default_factory=list)

    def leaves(self) -> Iterator[Origin]:
        """The first value, and those of later rounds."""
        yield from self.initial.leaves()
        yield from self.later

    def __str__(self) -> str:
        return f"{self.block.line.variable or 'loop'}.{self.name}"


@dataclass(frozen=True, eq=False, repr=False)
class First(Origin):
    """That one of several values that arrives."""

    values: tuple[Origin, ...]

    def leaves(self) -> Iterator[Origin]:
        """The alternatives."""
        for value in self.values:
            yield from value.leaves()

    def __str__(self) -> str:
        return f"first({', '.join(map(str, self.values))})"


@dataclass(frozen=True, slots=True)
class Feed:
    """A value on its way into an input port, and the line that says so."""

    value: Origin
    line: Line


@dataclass(eq=False)
class Draft:
    """A step as far as it is described; `ports` is None if only the FQN of the tool is known."""

    name: str
    fqn: ToolFqn
    kind: VertexKind
    ports: ToolPorts | None
    block: Block
    line: Line
    feeds: dict[str, Feed] = field(default_factory=dict)
    attempts: int = 1
    retry_after_ms: int = 0
    post_failure_action: PostFailureAction | None = None
    verifier: Verifier = Verifier.NONE

    @property
    def called(self) -> str:
        """What the author calls it: by the variable that has it, else as its vertex is named."""
        return self.line.variable or self.name


@dataclass(eq=False)
class Sketch:
    """All that the author has said of one workflow."""

    root: Block
    post_failure_action: PostFailureAction | None = None
    drafts: list[Draft] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    inputs: dict[str, Feed] = field(default_factory=dict)
    outputs: dict[str, Feed] = field(default_factory=dict)

    @property
    def block(self) -> Block:
        """The block in which the author is writing."""
        return next((each for each in reversed(self.blocks) if each.is_open), self.root)

    def constant(self, data: Any) -> Constant:
        """What the author has written down, as a value."""
        return Constant(self, self.root, ANY, data)


def order_port(taken: Collection[str]) -> str:
    """A port for order without data beside those of a step that are taken."""
    count = sum(port.startswith(AFTER) for port in taken)
    return f"{AFTER}_{count + 1}" if count else AFTER


def first_of(sketch: Sketch, values: Sequence[Origin]) -> First:
    """The one of several values that arrives.

    Raises `UsageError` (`alternatives_invalid`) for values of which none or several arrive.
    """
    ports = [value for value in values if isinstance(value, PortValue)]
    if len(ports) < len(values) or len(ports) < 2:
        raise UsageError(
            "alternatives_invalid",
            "the first of several values is one of two or more that steps give",
            hint="name a port of each step: flow.first(answer.yes.note, answer.no.note)",
        )
    if len({(port.draft, port.variant) for port in ports}) < len(ports):
        raise UsageError(
            "alternatives_invalid",
            f"of {', '.join(map(str, ports))} several are there at once",
            hint="take one port of each variant",
        )
    shape = reduce(or_, (port.shape for port in ports))
    blocks = {port.block for port in ports}
    block = ports[0].block if len(blocks) == 1 else sketch.root
    return First(sketch, block, shape, tuple(ports))
