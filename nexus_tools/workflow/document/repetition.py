"""The regions and loops of a workflow, before their nesting is checked.

Regions are determined by depth. The deepest incoming edge determines the depth of a vertex. A
`for_each` edge leads one level deeper, and a `collect` edge one level up. A `do_while` edge goes
back to an earlier vertex, so it does not count.

    papers ──for_each──▶ summarise ──▶ check ──collect──▶ write       topic ──▶ check
       0                     1           1                  0           0

Vertices of the same depth that are connected by edges form one region. So two lists whose elements
meet at a vertex are iterated together. The source of a value from outside (`topic`) does not become
a part of the region. Loops are determined by reachability. `do_while` edges that share a source or
a head form one loop. The loop has the vertices that its heads reach within the enclosing region,
not counting the `break` edges of its sources.
"""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from nexus_tools.workflow.document.document import Document, Edge, EdgeKind
from nexus_tools.workflow.document.violation import Violation

MAX_DEPTH = 8
"""The maximum number of blocks around a vertex, which the Move module `dag` accepts."""


class BlockKind(StrEnum):
    """The kind of a block, which determines why its steps are repeated."""

    REGION = "region"
    """The block runs for each element of a list."""
    LOOP = "loop"
    """The block runs in rounds until a `break` edge leaves it."""


@dataclass(slots=True)
class Repetition:
    """A block whose nesting has not been checked yet.

    `edge` is the number of an edge that creates it.
    """

    kind: BlockKind
    vertices: set[str]
    heads: set[str]
    edge: int
    sources: frozenset[str] = frozenset()


class EdgeGraph:
    """The numbered edges between existing vertices, and the problems found in them."""

    def __init__(self, document: Document) -> None:
        self.names = tuple(dict.fromkeys(vertex.name for vertex in document.vertices))
        self.place = {name: at for at, name in enumerate(self.names)}
        self.problems: list[Violation] = []
        known = set(self.names)
        self.edges: dict[int, Edge] = {
            number: edge
            for number, edge in enumerate(document.edges)
            if edge.source.vertex in known and edge.target.vertex in known
        }
        self.out: dict[str, list[tuple[int, Edge]]] = defaultdict(list)
        for number, edge in self.edges.items():
            self.out[edge.source.vertex].append((number, edge))

    def of_kind(self, kind: EdgeKind) -> list[tuple[int, Edge]]:
        """Return the edges of a kind, with their numbers."""
        return [(number, edge) for number, edge in self.edges.items() if edge.kind is kind]

    def complain(self, rule: str, number: int, message: str) -> None:
        """Record a problem of an edge."""
        self.problems.append(Violation(rule, message, f"/edges/{number}"))

    def complain_of_depth(self, number: int, vertex: str) -> None:
        """Record that an edge makes the nesting depth of a vertex exceed the limit."""
        message = f"'{vertex}' is in more than {MAX_DEPTH} regions and loops"
        self.complain("too_deep", number, message)


def repetitions(graph: EdgeGraph) -> list[Repetition]:
    """Return the regions and loops of a graph, and record their problems in the graph."""
    regions = _Regions(graph)
    return [*regions.found(), *_loops(graph, regions)]


# --- Regions


class _Regions:
    """The depth of each vertex, and its region at each depth."""

    def __init__(self, graph: EdgeGraph) -> None:
        self._graph = graph
        self.depth = _depths(graph)
        self._joined = _Joined()
        for edge in graph.edges.values():
            source, target = edge.source.vertex, edge.target.vertex
            levels = min(self.depth[source], self.depth[target])
            if edge.kind is EdgeKind.COLLECT:
                levels = min(levels, self.depth[source] - 1)
            if edge.kind is not EdgeKind.DO_WHILE:
                for level in range(1, levels + 1):
                    self._joined.join((source, level), (target, level))

    @cached_property
    def around(self) -> dict[str, tuple[object, ...]]:
        """A mark for each region around each vertex, with the outermost region first."""
        return {
            vertex: tuple(self._joined.root((vertex, level)) for level in range(1, depth + 1))
            for vertex, depth in self.depth.items()
        }

    def found(self) -> list[Repetition]:
        found: dict[object, Repetition] = {}
        for number, edge in self._graph.of_kind(EdgeKind.FOR_EACH):
            around = self.around[edge.target.vertex]
            if around:
                made = Repetition(BlockKind.REGION, set(), set(), number)
                found.setdefault(around[-1], made).heads.add(edge.target.vertex)
        for name in self._graph.names:
            for mark in self.around[name]:
                found[mark].vertices.add(name)
        return list(found.values())


def _depths(graph: EdgeGraph) -> dict[str, int]:
    """Return the number of regions around each vertex, or 0 for vertices on a cycle."""
    forward = [
        (number, edge) for number, edge in graph.edges.items() if edge.kind is not EdgeKind.DO_WHILE
    ]
    missing = dict.fromkeys(graph.names, 0)
    for _, edge in forward:
        missing[edge.target.vertex] += 1
    depth = dict.fromkeys(graph.names, 0)
    ready = deque(name for name in graph.names if not missing[name])
    while ready:
        name = ready.popleft()
        for _, edge in graph.out[name]:
            if edge.kind is not EdgeKind.DO_WHILE:
                target = edge.target.vertex
                depth[target] = max(depth[target], depth[name] + _LEADS.get(edge.kind, 0))
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)
    for number, edge in forward:
        if missing[edge.source.vertex] and missing[edge.target.vertex]:
            graph.complain("cycle", number, f"'{edge.source}' is on a cycle or after a cycle")
    for number, edge in graph.of_kind(EdgeKind.FOR_EACH):
        if depth[edge.target.vertex] > MAX_DEPTH:
            graph.complain_of_depth(number, edge.target.vertex)
            return dict.fromkeys(graph.names, 0)
    return {name: 0 if missing[name] else depth[name] for name in graph.names}


_LEADS = {EdgeKind.FOR_EACH: 1, EdgeKind.COLLECT: -1}
"""The depth of an edge's target relative to its source."""


class _Joined:
    """Disjoint sets (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[object, object] = {}

    def root(self, item: object) -> object:
        while (parent := self._parent.setdefault(item, item)) != item:
            self._parent[item] = item = self._parent[parent]
        return item

    def join(self, one: object, other: object) -> None:
        self._parent[self.root(one)] = self.root(other)


# --- Loops


def _loops(graph: EdgeGraph, regions: _Regions) -> list[Repetition]:
    """Return the loops with the vertices that their heads reach."""
    joined = _Joined()
    again = graph.of_kind(EdgeKind.DO_WHILE)
    for _, edge in again:
        joined.join(("source", edge.source.vertex), ("head", edge.target.vertex))
    found: dict[object, Repetition] = {}
    for number, edge in again:
        made = Repetition(BlockKind.LOOP, set(), set(), number)
        loop = found.setdefault(joined.root(("head", edge.target.vertex)), made)
        loop.heads.add(edge.target.vertex)
        loop.sources |= {edge.source.vertex}
    depth: Counter[str] = Counter()
    for loop in found.values():
        loop.vertices = _reach(graph, regions, loop)
        depth.update(loop.vertices)
        deep = next((name for name in loop.vertices if depth[name] > MAX_DEPTH), None)
        if deep is not None:  # reachability in many nested loops takes too long
            graph.complain_of_depth(loop.edge, min(loop.heads))
            return []
    for number, edge in again:
        loop = found[joined.root(("head", edge.target.vertex))]
        if edge.source.vertex not in loop.vertices:
            graph.complain(
                "repeats_nothing",
                number,
                f"no path leads from '{edge.target.vertex}' to '{edge.source}', so the do_while"
                " edge does not form a loop",
            )
    return list(found.values())


def _reach(graph: EdgeGraph, regions: _Regions, loop: Repetition) -> set[str]:
    home = regions.around[min(loop.heads)]
    reached, worklist = set(loop.heads), sorted(loop.heads)
    while worklist:
        name = worklist.pop()
        for _, edge in graph.out[name]:
            target = edge.target.vertex
            breaks = edge.kind is EdgeKind.BREAK and name in loop.sources
            # A collect edge may leave a region that contains the whole loop.
            stays = regions.around[target][: len(home)] == home
            if stays and not breaks and target not in reached:
                reached.add(target)
                worklist.append(target)
    return reached
