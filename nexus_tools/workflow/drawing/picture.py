"""The content of a drawing of a workflow, shared by SVG, terminal and Mermaid."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.workflow.document.document import (
    ERR_EVAL,
    Document,
    Edge,
    EdgeKind,
    Vertex,
    VertexKind,
)
from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.document.structure import find_structure
from nexus_tools.workflow.drawing.layout import Box, Layout, Line, Size, Spacing, lay_out
from nexus_tools.workflow.drawing.text import cells, truncate_end


class Phase(StrEnum):
    """A phase of a vertex's runs. The most important phase is first."""

    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    SETTLED = "settled"

    @property
    def symbol(self) -> str:
        """A character for the phase, for readers who cannot distinguish colors."""
        return {"failed": "✗", "running": "▸", "waiting": "○", "settled": "✓"}[self.value]


@dataclass(frozen=True, slots=True)
class VertexState:
    """The number of runs of a vertex in each phase."""

    waiting: int = 0
    running: int = 0
    settled: int = 0
    failed: int = 0

    def counts(self) -> Iterator[tuple[Phase, int]]:
        """Yield the phases that have runs, and their counts. The most important phase is first."""
        for phase in Phase:
            count: int = getattr(self, phase.value)
            if count:
                yield phase, count

    @property
    def phase(self) -> Phase | None:
        """The most important phase that has runs, or None if no phase has runs."""
        return next((phase for phase, _ in self.counts()), None)


@dataclass(frozen=True, slots=True)
class DrawnVertex:
    """A vertex of the drawing, with printable texts. An undeclared vertex occurs only in edges.

    `entries` are the vertex's entry ports, and `results` its ports that are outputs of the
    workflow. `entries` and `results` include the names that the dialect gives to ports. `block` is
    the number of the innermost enclosing block. If `state` is None, the vertex's runs are unknown.
    """

    name: str
    fqn: str = ""
    is_declared: bool = True
    is_on_chain: bool = False
    entries: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    block: int | None = None
    state: VertexState | None = None

    @property
    def phase(self) -> Phase | None:
        """The most important phase of the vertex's runs, or None."""
        return self.state.phase if self.state else None

    def counts(self) -> list[tuple[Phase, int]]:
        """Return the number of runs in each phase, or nothing if the runs are unknown."""
        return list(self.state.counts()) if self.state else []


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """All edges of a kind from a variant of a vertex to another vertex, drawn as one line.

    `source` and `target` are numbers of vertices. `ports` has an output and an input port for each
    edge of the document.
    """

    source: int
    target: int
    variant: str
    kind: EdgeKind
    ports: tuple[tuple[str, str], ...]

    @property
    def is_error(self) -> bool:
        """Whether the edge handles a failure."""
        return self.variant == ERR_EVAL

    @property
    def label(self) -> str:
        """The variant, and the edge kind unless it is `normal`."""
        if self.kind is EdgeKind.NORMAL:
            return self.variant
        return f"{self.variant} · {self.kind.value.replace('_', ' ')}"

    def port_text(self, length: int) -> str:
        """Return the connected ports if they fit into `length` columns, else their number."""
        text = ", ".join(one if one == other else f"{one} → {other}" for one, other in self.ports)
        if len(self.ports) == 1 or cells(text) <= length:
            return truncate_end(text, length)
        return f"{len(self.ports)} ports"


@dataclass(frozen=True, slots=True)
class DrawnBlock:
    """A block, and the number of its parent."""

    title: str
    parent: int | None


@dataclass(frozen=True, slots=True)
class Picture:
    """The vertices, edges and blocks of a document, in document order, with printable texts."""

    vertices: tuple[DrawnVertex, ...]
    edges: tuple[DrawnEdge, ...]
    blocks: tuple[DrawnBlock, ...]

    def layout(
        self,
        size: Callable[[DrawnVertex], Size],
        label: Callable[[DrawnEdge], Size],
        spacing: Spacing,
    ) -> Layout:
        """Return the layout for given sizes of vertices and labels."""
        return lay_out(
            [Box(size(vertex), vertex.block) for vertex in self.vertices],
            [
                Line(edge.source, edge.target, label(edge), edge.kind is EdgeKind.DO_WHILE)
                for edge in self.edges
            ],
            [block.parent for block in self.blocks],
            spacing,
        )

    def descriptions(self) -> Iterator[str]:
        """Yield the lines of a text description of the picture, for screen readers."""
        yield f"A workflow of {len(self.vertices)} vertices"
        for vertex in self.vertices:
            yield ", ".join(
                (
                    f"{vertex.name} {vertex.fqn}".strip(),
                    *(["on chain"] if vertex.is_on_chain else []),
                    *(f"takes {entry}" for entry in vertex.entries),
                    *(f"gives {result}" for result in vertex.results),
                    *(f"{count} {phase}" for phase, count in vertex.counts()),
                )
            )
        for edge in self.edges:
            source, target = self.vertices[edge.source].name, self.vertices[edge.target].name
            yield f"{source} to {target}: {edge.label}"


def create_picture(document: Document, states: Mapping[str, VertexState] | None = None) -> Picture:
    """Return the picture of any document, even if the document violates rules.

    Blocks are included if they nest correctly. `states` maps the names of vertices with runs to
    their states.
    """
    structure = find_structure(document)
    nests = not structure.problems
    around = structure.enclosing if nests else {}
    entries, results = _input_names(document), _results(document)
    numbers: dict[str, int] = {}
    vertices: list[DrawnVertex] = []
    for vertex in document.vertices:
        numbers.setdefault(vertex.name, len(vertices))
        vertices.append(
            DrawnVertex(
                one_line(vertex.name),
                one_line(vertex.fqn),
                is_on_chain=vertex.kind is VertexKind.ON_CHAIN,
                entries=tuple(_entries(vertex, entries)),
                results=tuple(results[vertex.name]),
                block=around[vertex.name][-1] if around.get(vertex.name) else None,
                state=None if states is None else states.get(vertex.name, VertexState()),
            )
        )
    for edge in document.edges:
        for name in (edge.source.vertex, edge.target.vertex):
            if name not in numbers:
                numbers[name] = len(vertices)
                vertices.append(DrawnVertex(one_line(name), is_declared=False))
    titles = {BlockKind.REGION: "for each", BlockKind.LOOP: "loop"}
    return Picture(
        tuple(vertices),
        tuple(_edges(document, numbers)),
        tuple(DrawnBlock(titles[block.kind], block.parent) for block in structure.blocks if nests),
    )


def _edges(document: Document, numbers: Mapping[str, int]) -> Iterator[DrawnEdge]:
    together: dict[tuple[str, str, str, EdgeKind], list[Edge]] = {}
    for edge in document.edges:
        key = (edge.source.vertex, edge.source.variant, edge.target.vertex, edge.kind)
        together.setdefault(key, []).append(edge)
    for (source, variant, target, kind), edges in together.items():
        ports = tuple((one_line(edge.source.port), one_line(edge.target.port)) for edge in edges)
        yield DrawnEdge(numbers[source], numbers[target], one_line(variant), kind, ports)


def _input_names(document: Document) -> dict[str, dict[str, str]]:
    """Return, by vertex, the ports that have a named input, with the input names."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for input_ in document.inputs:
        for target in input_.targets:
            found[target.vertex][target.port] = input_.name
    return found


def _entries(vertex: Vertex, input_names: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    names = input_names.get(vertex.name, {})
    for port in dict.fromkeys((*vertex.entry_ports, *names)):
        name = names.get(port, port)
        yield one_line(port if name == port else f"{port} as {name}")


def _results(document: Document) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for output in document.outputs:
        port = f"{output.source.variant}.{output.source.port}"
        is_named = output.name not in {"", output.source.port}
        found[output.source.vertex].append(
            one_line(f"{port} as {output.name}" if is_named else port)
        )
    return found
