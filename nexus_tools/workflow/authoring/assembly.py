"""The conversion of a sketch to a document that records the source line of each part."""

from dataclasses import dataclass, field
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.workflow.authoring.connections import Connection, connections
from nexus_tools.workflow.authoring.sketch import (
    Binding,
    Block,
    BlockKind,
    Draft,
    Origin,
    PortValue,
    Sketch,
    State,
    WorkflowInput,
    order_port,
)
from nexus_tools.workflow.authoring.source_line import Line
from nexus_tools.workflow.document.document import (
    DEFAULT_GROUP,
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    EntryGroup,
    Input,
    InputPort,
    Output,
    Vertex,
)
from nexus_tools.workflow.document.violation import Violation

VALUE_UNUSED = "value_unused"
"""The error code for an input or a loop value that no step uses."""


@dataclass(frozen=True, slots=True)
class Located:
    """A violation of a workflow rule, and the line of the author's program that causes it."""

    violation: Violation
    line: Line

    def as_json(self) -> dict[str, Any]:
        """Return the violation, with `file` and `line`."""
        return self.violation.as_json() | self.line.as_json()

    def __str__(self) -> str:
        return f"{self.line}: {self.violation.message}"


@dataclass(frozen=True, slots=True)
class AssembledDocument:
    """A document, its source lines by JSON pointer, and the errors of the parts that it lacks."""

    document: Document
    lines: dict[str, Line]
    errors: list[tuple[UsageError, Line]]

    def line_of(self, pointer: str) -> Line | None:
        """Return the line of the part at a pointer, or of the smallest part that contains it."""
        while pointer and pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer)


def assemble(sketch: Sketch) -> AssembledDocument:
    """Return the document of the unfinished sketch."""
    assembly = _Assembly(sketch)
    for draft in sketch.drafts:
        assembly.add(draft)
    assembly.add_outputs()
    assembly.check_all_is_used()
    return assembly.finished()


@dataclass
class _Assembly:
    sketch: Sketch
    lines: dict[str, Line] = field(default_factory=dict)
    errors: list[tuple[UsageError, Line]] = field(default_factory=list)
    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    defaults: list[Default] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    entered: dict[str, list[InputPort]] = field(default_factory=dict)
    beginning: list[str] = field(default_factory=list)

    def add(self, draft: Draft) -> None:
        """Add a step and all edges that lead to it."""
        led = {port: self._ways(feed, draft.block) for port, feed in draft.bindings.items()}
        if not _is_led(led, draft.block):
            self._anchor(draft, led)
        self.lines[f"/vertices/{len(self.vertices)}"] = draft.line
        for port, found in led.items():
            line = draft.bindings[port].line if port in draft.bindings else draft.line
            for way in found:
                self._lead(way, InputPort(draft.name, port), line)
        kinds = {way.kind for found in led.values() for way in found}
        if kinds <= {None, EdgeKind.DO_WHILE}:
            self.beginning.append(draft.name)
        self.vertices.append(_vertex(draft, led))

    def _ways(self, feed: Binding, target: Block) -> list[Connection]:
        try:
            return connections(feed.value, target)
        except UsageError as error:
            self.errors.append((error, feed.line))
            return []

    def _anchor(self, draft: Draft, led: dict[str, list[Connection]]) -> None:
        """Make a step wait for the start of its block, unless an edge starts the step there.

        So a step in a `for_each` runs for each element, even if it does not take the element's
        value.
        """
        try:
            beginning = _beginning_of(draft.block)
        except UsageError as error:
            self.errors.append((error, draft.block.line))
            return
        led[order_port(led)] = self._ways(Binding(beginning, draft.line), draft.block)
        if not _is_led(led, draft.block):
            refused = UsageError(
                "loop_begins_with_nothing",
                f"{draft.block} does not start with a value from {draft.block.parent}",
                hint="Start the block with the value of a step, so that it starts in each round.",
            )
            self.errors.append((refused, draft.block.line))

    def _lead(self, way: Connection, target: InputPort, line: Line) -> None:
        source = way.source
        if isinstance(source, PortValue):
            assert way.kind is not None
            self.lines[f"/edges/{len(self.edges)}"] = line
            self.edges.append(Edge(source.output, target, way.kind))
        elif isinstance(source, WorkflowInput):
            self.entered.setdefault(source.name, []).append(target)
        else:
            self.lines[f"/default_values/{len(self.defaults)}"] = line
            self.defaults.append(Default(target, source.data))

    def add_outputs(self) -> None:
        """Add the outputs of the execution. Alternatives have the same name."""
        for name, feed in self.sketch.outputs.items():
            for way in self._ways(feed, self.sketch.root):
                assert isinstance(way.source, PortValue)
                self.lines[f"/outputs/{len(self.outputs)}"] = feed.line
                self.outputs.append(Output(way.source.output, name))

    def check_all_is_used(self) -> None:
        """Report inputs and loop values that no step uses."""
        for name, given in self.sketch.inputs.items():
            if name not in self.entered:
                self._refuse_unused(given.value, given.line)
        taken = {id(feed.value) for draft in self.sketch.drafts for feed in draft.bindings.values()}
        for block in self.sketch.blocks:
            for state in block.entered_by:
                if isinstance(state, State) and state.later and id(state) not in taken:
                    self._refuse_unused(state, state.line)

    def _refuse_unused(self, value: Origin, line: Line) -> None:
        error = UsageError(
            VALUE_UNUSED,
            f"no step uses {value}",
            hint="Pass the value to a port, or remove it.",
        )
        self.errors.append((error, line))

    def finished(self) -> AssembledDocument:
        """Return the assembled document."""
        inputs = [name for name in self.sketch.inputs if name in self.entered]
        for index, name in enumerate(inputs):
            self.lines[f"/inputs/{index}"] = self.sketch.inputs[name].line
        document = Document(
            vertices=tuple(self.vertices),
            edges=tuple(self.edges),
            defaults=tuple(self.defaults),
            entry_groups=self._entry_groups(),
            inputs=tuple(Input(name, tuple(self.entered[name])) for name in inputs),
            outputs=tuple(self.outputs),
            post_failure_action=self.sketch.post_failure_action,
            dialect=DIALECT,
        )
        return AssembledDocument(document, self.lines, self.errors)

    def _entry_groups(self) -> tuple[EntryGroup, ...]:
        """Return one entry group if a starting step has no entry ports, and otherwise no group."""
        entered = {vertex.name for vertex in self.vertices if vertex.entry_ports}
        if entered.issuperset(self.beginning):
            return ()
        members = entered.union(self.beginning)
        names = tuple(vertex.name for vertex in self.vertices if vertex.name in members)
        return (EntryGroup(DEFAULT_GROUP, names),)


def _is_led(led: dict[str, list[Connection]], block: Block) -> bool:
    """Return whether the edges make a step run in every iteration and every round of its block."""
    moving = [way for found in led.values() for way in found if way.is_moving]
    runs_in = max((way.depth for way in moving), default=0)
    begins_in = max((way.depth for way in moving if way.kind is not EdgeKind.DO_WHILE), default=0)
    return runs_in == block.depth and begins_in >= block.depth - 1


def _beginning_of(block: Block) -> Origin:
    """Return a value that exists in each iteration of a block, or in each of its rounds."""
    if block.kind is BlockKind.FOR_EACH:
        return block.entered_by[0]
    state = block.changing[0]
    assert block.parent is not None
    begins = any(way.is_moving for way in connections(state.initial, block.parent))
    if begins or block.parent.kind is not BlockKind.FOR_EACH:
        return state
    element = block.parent.entered_by[0]
    return State(
        state.sketch, block, state.shape, state.name, element, state.line, later=state.later
    )


def _vertex(draft: Draft, led: dict[str, list[Connection]]) -> Vertex:
    entry_ports = tuple(
        port
        for port, found in led.items()
        if any(isinstance(w.source, WorkflowInput) for w in found)
    )
    return Vertex(
        name=draft.name,
        fqn=str(draft.fqn),
        kind=draft.kind,
        entry_ports=entry_ports,
        post_failure_action=draft.post_failure_action,
        verifier=draft.verifier,
        attempts=draft.attempts,
        retry_after_ms=draft.retry_after_ms,
        parallel=draft.block.parallel,
    )
