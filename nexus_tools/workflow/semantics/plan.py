"""The plan of a workflow: the document in the form that the semantics need.

An edge moves a value from the run at one path to a *place*. The place is `path[:keeps]`, followed
by a 0 for each loop that the edge enters. A `do_while` edge also increments the last number of
`path[:keeps]`. The place ends before the first region that the edge enters, or for a `static` edge
before the first block. This region or block is the `scope` of the edge. The value is stored once
for this block, and serves all runs inside it. If an edge does not have a scope, the place is a
single run.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nexus_tools.workflow.document.document import (
    Document,
    Edge,
    EdgeKind,
    InputPort,
    Output,
    OutputPort,
    PostFailureAction,
    Vertex,
)
from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.document.structure import Structure, find_structure, shared_length
from nexus_tools.workflow.document.violation import Violation, violations_error


@dataclass(frozen=True, slots=True)
class PlannedEdge:
    """An edge, and the place to which the edge brings values.

    `rounds` are positions in a path. The value of the edge serves a run only if the run's path has
    a 0 at each of these positions. For a `for_each` edge, `element` is the position of the number
    that selects the element of the list. `collected_region` is the region that a `collect` edge
    gathers.
    """

    number: int
    source: OutputPort
    target: InputPort
    kind: EdgeKind
    keeps: int
    zeros: int = 0
    scope: int | None = None
    rounds: tuple[int, ...] = ()
    element: int | None = None
    collected_region: int | None = None

    @property
    def origin(self) -> str | int:
        """The source of the value: a vertex, or the collected region of a `collect` edge."""
        return self.source.vertex if self.collected_region is None else self.collected_region

    def target_path(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the path of the target run or block instance for a source run at `path`."""
        kept = path[: self.keeps]
        if self.kind is EdgeKind.DO_WHILE:
            kept = (*kept[:-1], kept[-1] + 1)
        return kept + (0,) * self.zeros

    def reaches(self, path: tuple[int, ...]) -> bool:
        """Return whether the edge can bring a value to the run or block instance at this path."""
        if self.kind is EdgeKind.STATIC:
            return True
        if self.kind is EdgeKind.DO_WHILE:
            return path[-1] > 0
        return not any(path[at] for at in self.rounds if at < len(path))


@dataclass(frozen=True, slots=True)
class PlannedVertex:
    """A vertex with its ports and the blocks around it.

    `incoming` has the edges to each port. Ports are sorted by name, which is the order in which
    tools sign them.

    `constants` are ports with a default value, and `entries` are entry ports.
    """

    vertex: Vertex
    blocks: tuple[int, ...]
    incoming: Mapping[str, tuple[PlannedEdge, ...]]
    constants: frozenset[str]
    entries: frozenset[str]
    variants: Mapping[str, tuple[PlannedEdge, ...]]
    region: int | None
    terminates: bool

    def sources(self, port: str) -> tuple[PlannedEdge, ...]:
        """Return the edges for which a port waits before it uses its fallback value.

        The fallback is the value of an entry, a default, or a `static` edge. A port without a
        fallback does not have to wait.
        """
        edges = self.incoming[port]
        is_static = any(edge.kind is EdgeKind.STATIC for edge in edges)
        if not (is_static or port in self.entries or port in self.constants):
            return ()
        return tuple(edge for edge in edges if edge.scope is None)


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block. `depth` is the position of the block's number in the path of a run inside.

    An instance opens when its `required_ports` have values. For a region, these are all ports with
    edges from outside. For a loop, these are the ports with `static` edges. When a region opens,
    its `cursors` start one run for each iteration. When a loop opens, its `starts` may start. The
    starts are the vertices and regions that do not wait for a value from inside the loop.
    `collects` has the ports that receive a list when a region closes.
    """

    kind: BlockKind
    around: tuple[int, ...]
    region: int | None
    required_ports: tuple[InputPort, ...]
    cursors: tuple[str, ...]
    starts: tuple[str | int, ...]
    collects: Mapping[InputPort, PlannedEdge]

    @property
    def depth(self) -> int:
        """The number of blocks around this block."""
        return len(self.around)


@dataclass(frozen=True, slots=True)
class Plan:
    """An executable workflow. `region` of a vertex or block is its innermost enclosing region."""

    vertices: Mapping[str, PlannedVertex]
    blocks: tuple[PlannedBlock, ...]
    groups: Mapping[str, frozenset[str]]
    outputs: tuple[Output, ...]


def create_plan(document: Document) -> Plan:
    """Return the plan of a document whose blocks nest and whose edges name existing vertices.

    Raises `ValidationError` (`workflow_invalid`) for other documents, with all `violations` in its
    details.
    """
    structure = find_structure(document)
    _check(document, structure)
    return _Planner(document, structure).plan()


def _check(document: Document, structure: Structure) -> None:
    known = {vertex.name for vertex in document.vertices}
    named = [
        *((edge.source.vertex, f"/edges/{at}") for at, edge in enumerate(document.edges)),
        *((edge.target.vertex, f"/edges/{at}") for at, edge in enumerate(document.edges)),
        *(
            (name, f"/entry_groups/{at}")
            for at, group in enumerate(document.entry_groups)
            for name in group.vertices
        ),
        *(
            (default.target.vertex, f"/default_values/{at}")
            for at, default in enumerate(document.defaults)
        ),
    ]
    found = list(structure.problems)
    for name, pointer in dict.fromkeys(named):
        if name not in known:
            found.append(Violation("names_nothing", f"The vertex '{name}' does not exist", pointer))
    if found:
        raise violations_error(found)


class _Planner:
    def __init__(self, document: Document, structure: Structure) -> None:
        self._document = document
        self._structure = structure
        self._declared = {vertex.name: vertex for vertex in document.vertices}
        self._blocks = structure.blocks
        self._around = structure.enclosing
        self._ancestors: list[tuple[int, ...]] = []
        self._regions: list[int | None] = []  # by block: the block or the region around it
        for number, block in enumerate(structure.blocks):  # parents come first
            parent = block.parent
            self._ancestors.append(() if parent is None else (*self._ancestors[parent], parent))
            outer = None if parent is None else self._regions[parent]
            self._regions.append(outer if block.kind is BlockKind.LOOP else number)
        self._edges = [self._edge(number, edge) for number, edge in enumerate(document.edges)]
        self._into: dict[str, list[PlannedEdge]] = defaultdict(list)
        self._out: dict[str, list[PlannedEdge]] = defaultdict(list)
        self._entering: dict[int, list[PlannedEdge]] = defaultdict(list)
        self._needs: dict[int, dict[InputPort, None]] = defaultdict(dict)
        for edge in self._edges:
            self._into[edge.target.vertex].append(edge)
            self._out[edge.source.vertex].append(edge)
            for entered in structure.entered_by(document.edges[edge.number]):
                self._entering[entered].append(edge)
            for awaiting in structure.waiting_blocks(document.edges[edge.number]):
                self._needs[awaiting].setdefault(edge.target)
        self._constants: dict[str, list[str]] = defaultdict(list)
        for default in document.defaults:
            self._constants[default.target.vertex].append(default.target.port)

    def plan(self) -> Plan:
        groups = {group.name: frozenset(group.vertices) for group in self._document.groups()}
        vertices = {vertex.name: self._vertex(vertex) for vertex in self._document.vertices}
        blocks = tuple(self._block(number) for number in range(len(self._blocks)))
        return Plan(vertices, blocks, groups, self._document.outputs)

    def _edge(self, number: int, edge: Edge) -> PlannedEdge:
        source, target = self._around[edge.source.vertex], self._around[edge.target.vertex]
        keeps = shared_length(source, target)
        kind, enters = edge.kind, target[keeps:]
        enters_nothing = kind is EdgeKind.STATIC and not enters
        leaves_nothing = kind is EdgeKind.BREAK and keeps == len(source)
        if enters_nothing or leaves_nothing:
            kind = EdgeKind.NORMAL
        scope = next(iter(self._structure.waiting_blocks(edge)), None)
        zeros = len(enters) if scope is None else enters.index(scope)
        loops = (at for at in range(keeps, len(target)) if self._is_loop(target[at]))
        regions = [at for at, block in enumerate(target) if not self._is_loop(block)]
        return PlannedEdge(
            number,
            edge.source,
            edge.target,
            kind,
            keeps,
            zeros,
            scope,
            tuple(loops),
            regions[-1] if kind is EdgeKind.FOR_EACH else None,
            source[-1] if kind is EdgeKind.COLLECT else None,
        )

    def _is_loop(self, block: int) -> bool:
        return self._blocks[block].kind is BlockKind.LOOP

    # --- Vertices

    def _vertex(self, vertex: Vertex) -> PlannedVertex:
        into: dict[str, list[PlannedEdge]] = defaultdict(list)
        variants: dict[str, list[PlannedEdge]] = defaultdict(list)
        for edge in self._into[vertex.name]:
            into[edge.target.port].append(edge)
        for edge in self._out[vertex.name]:
            variants[edge.source.variant].append(edge)
        constants = self._constants[vertex.name]
        for port in (*vertex.entry_ports, *constants):
            into.setdefault(port, [])
        action = vertex.post_failure_action or self._document.post_failure_action
        return PlannedVertex(
            vertex,
            self._around[vertex.name],
            {port: tuple(edges) for port, edges in sorted(into.items())},
            frozenset(constants),
            frozenset(vertex.entry_ports),
            {variant: tuple(edges) for variant, edges in variants.items()},
            self._region(self._around[vertex.name]),
            action is not PostFailureAction.CONTINUE,
        )

    def _region(self, around: tuple[int, ...]) -> int | None:
        return self._regions[around[-1]] if around else None

    # --- Blocks

    def _block(self, number: int) -> PlannedBlock:
        block = self._blocks[number]
        around = self._ancestors[number]
        loop = self._is_loop(number)
        out = (edge for name in block.vertices for edge in self._out[name])
        collects = {edge.target: edge for edge in out if edge.collected_region == number}
        return PlannedBlock(
            block.kind,
            around,
            self._region(around),
            tuple(self._needs[number]),
            () if loop else tuple(self._cursors(number)),
            tuple(self._starts(number)) if loop else (),
            collects,
        )

    def _cursors(self, region: int) -> Iterator[str]:
        """Yield the heads whose iterations can start as soon as the region opens."""
        entering = {edge.number: edge for edge in self._entering[region]}
        brought = {edge.target for edge in entering.values()}
        moved = {edge.target for edge in entering.values() if edge.kind is not EdgeKind.STATIC}
        for name in self._blocks[region].heads:
            around = self._around[name]
            loops = around[around.index(region) + 1 :]
            needs = {port for loop in loops for port in self._needs[loop]}
            inner = {
                edge.target
                for edge in self._into[name]
                if edge.kind is not EdgeKind.DO_WHILE and edge.number not in entering
            }
            # A static value from outside waits for values from inside. Other values would race with
            # the waiting values.
            if inner <= moved and needs <= brought:
                yield name

    def _starts(self, loop: int) -> Iterator[str | int]:
        """Yield the vertices and regions that do not wait for a value from inside the loop.

        Only these vertices and regions can start when the loop opens. Values that arrive later
        start all other vertices and regions. Vertices and regions inside an inner region are
        omitted.
        """
        region = self._region(self._ancestors[loop])
        brought = {edge.target for edge in self._entering[loop]}
        for name in self._blocks[loop].vertices:
            around = self._around[name]
            if self._region(around) == region:
                inner = around[around.index(loop) + 1 :]
                needs = (self._needs[block] for block in inner)
                if brought.issuperset(self._fed(name).union(*needs)):
                    yield name
        for number, around in enumerate(self._ancestors):
            if self._is_loop(number) or loop not in around:
                continue
            if self._region(around) == region and brought.issuperset(self._needs[number]):
                yield number

    def _fed(self, name: str) -> set[InputPort]:
        """Return the ports of a vertex that have edges but no entry or default value."""
        given = {*self._declared[name].entry_ports, *self._constants[name]}
        return {edge.target for edge in self._into[name] if edge.target.port not in given}
