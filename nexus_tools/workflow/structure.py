"""The blocks of a workflow: what is repeated for each element of a list, or round after round.

A *region* is what lies between `for_each` edges and the `collect` edges that gather its iterations.
A *loop* is what its heads, the targets of `do_while` edges, reach before the `break` edges. Blocks
nest or have nothing in common, and the path of a run has one number for each block around its
vertex.

Regions follow from depth. A vertex is as deep as the deepest of its incoming edges brings it:
`for_each` leads one deeper, `collect` one less deep; `do_while`, which goes back, does not count.

    papers ──for_each──▶ summarise ──▶ check ──collect──▶ write       topic ──▶ check
       0                     1           1                  0           0

What edges connect at a depth is one region there. So two lists that meet are iterated together, and
a value from outside (`topic`) does not pull its source into the region.

Loops follow from reach. `do_while` edges that share a source or a head are one loop; it has what
its heads reach by all edges but the `break` edges of its sources, within the region around it.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, partial

from nexus_tools.workflow.document import Document, Edge, EdgeKind, InputPort
from nexus_tools.workflow.violation import Violation

MAX_DEPTH = 8
"""How many blocks may be around a vertex: `dag` takes no more."""

# With these it makes no sense to say which edge leaves which block.
_UNCLEAR = frozenset({"blocks_cross", "too_deep"})


class BlockKind(StrEnum):
    """Why a block is repeated."""

    REGION = "region"
    """For each element of a list."""
    LOOP = "loop"
    """Round after round, until it breaks."""


@dataclass(frozen=True, slots=True)
class Block:
    """Vertices that are repeated together, those of the blocks inside included.

    `heads` are the targets of the `for_each` or `do_while` edges; `parent` is the number of the
    block around it.
    """

    kind: BlockKind
    parent: int | None
    vertices: tuple[str, ...]
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """All blocks, parents first, and for each vertex those around it, outermost first.

    With problems, which name edges, the blocks are those that could be made out.
    """

    blocks: tuple[Block, ...]
    around: Mapping[str, tuple[int, ...]]
    problems: tuple[Violation, ...]

    def entered_by(self, edge: Edge) -> tuple[int, ...]:
        """The blocks into which an edge leads, outermost first."""
        source, target = (self.around.get(each.vertex, ()) for each in (edge.source, edge.target))
        return target[shared_length(source, target) :]

    def awaiting(self, edge: Edge) -> tuple[int, ...]:
        """Those of them that do not open before its value is there: regions; if it stays, all."""
        return tuple(
            block
            for block in self.entered_by(edge)
            if edge.kind is EdgeKind.STATIC or self.blocks[block].kind is BlockKind.REGION
        )


@dataclass(slots=True)
class _Candidate:
    """A block before it is known whether it nests; `edge` is one of those that make it."""

    kind: BlockKind
    vertices: set[str]
    heads: set[str]
    edge: int
    sources: frozenset[str] = frozenset()


def structure_of(document: Document) -> Structure:
    """The blocks of any document; edges that name no vertex of it are passed over."""
    graph = _Graph(document)
    regions = _Regions(graph)
    candidates = [*regions.candidates(), *_loops(graph, regions)]
    blocks, around = _nested(graph, candidates)
    _check_depth(graph, around, candidates)
    if not any(problem.rule in _UNCLEAR for problem in graph.problems):
        _check_edges(graph, blocks, around, candidates)
    return Structure(blocks, around, tuple(dict.fromkeys(graph.problems)))


class _Graph:
    """The edges between vertices that exist, with their numbers, and what is wrong with them."""

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
        return [(number, edge) for number, edge in self.edges.items() if edge.kind is kind]

    def complain(self, rule: str, number: int, message: str) -> None:
        self.problems.append(Violation(rule, message, f"/edges/{number}"))


# --- Regions


class _Regions:
    """How deep each vertex is, and in which region of each depth."""

    def __init__(self, graph: _Graph) -> None:
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
        """Of each vertex, a mark for each region around it, outermost first."""
        return {
            vertex: tuple(self._joined.root((vertex, level)) for level in range(1, depth + 1))
            for vertex, depth in self.depth.items()
        }

    def candidates(self) -> list[_Candidate]:
        found: dict[object, _Candidate] = {}
        for number, edge in self._graph.of_kind(EdgeKind.FOR_EACH):
            around = self.around[edge.target.vertex]
            if around:
                made = _Candidate(BlockKind.REGION, set(), set(), number)
                found.setdefault(around[-1], made).heads.add(edge.target.vertex)
        for name in self._graph.names:
            for mark in self.around[name]:
                found[mark].vertices.add(name)
        return list(found.values())


def _depths(graph: _Graph) -> dict[str, int]:
    """In how many regions each vertex is; vertices on a circle are in none."""
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
            graph.complain("cycle", number, f"'{edge.source}' is on a cycle, or behind one")
    for number, edge in graph.of_kind(EdgeKind.FOR_EACH):
        if depth[edge.target.vertex] > MAX_DEPTH:
            _complain_of_depth(graph, number, edge.target.vertex)
            return dict.fromkeys(graph.names, 0)
    return {name: 0 if missing[name] else depth[name] for name in graph.names}


_LEADS = {EdgeKind.FOR_EACH: 1, EdgeKind.COLLECT: -1}
"""How much deeper the target of an edge is."""


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


def _loops(graph: _Graph, regions: _Regions) -> list[_Candidate]:
    """The loops, each with what its heads reach."""
    joined = _Joined()
    again = graph.of_kind(EdgeKind.DO_WHILE)
    for _, edge in again:
        joined.join(("source", edge.source.vertex), ("head", edge.target.vertex))
    found: dict[object, _Candidate] = {}
    for number, edge in again:
        made = _Candidate(BlockKind.LOOP, set(), set(), number)
        loop = found.setdefault(joined.root(("head", edge.target.vertex)), made)
        loop.heads.add(edge.target.vertex)
        loop.sources |= {edge.source.vertex}
    depth: Counter[str] = Counter()
    for loop in found.values():
        loop.vertices = _reach(graph, regions, loop)
        depth.update(loop.vertices)
        deep = next((name for name in loop.vertices if depth[name] > MAX_DEPTH), None)
        if deep is not None:  # nobody waits for what many loops upon each other reach
            _complain_of_depth(graph, loop.edge, min(loop.heads))
            return []
    for number, edge in again:
        loop = found[joined.root(("head", edge.target.vertex))]
        if edge.source.vertex not in loop.vertices:
            graph.complain(
                "repeats_nothing",
                number,
                f"'{edge.target.vertex}' does not reach '{edge.source}', which repeats it",
            )
    return list(found.values())


def _reach(graph: _Graph, regions: _Regions, loop: _Candidate) -> set[str]:
    home = regions.around[min(loop.heads)]
    reached, todo = set(loop.heads), sorted(loop.heads)
    while todo:
        name = todo.pop()
        for _, edge in graph.out[name]:
            target = edge.target.vertex
            breaks = edge.kind is EdgeKind.BREAK and name in loop.sources
            # A collect edge may leave a region that has the whole loop inside.
            stays = regions.around[target][: len(home)] == home
            if stays and not breaks and target not in reached:
                reached.add(target)
                todo.append(target)
    return reached


# --- Nesting


def _nested(
    graph: _Graph, candidates: list[_Candidate]
) -> tuple[tuple[Block, ...], dict[str, tuple[int, ...]]]:
    """The blocks, largest first: parents come first, and a region before a loop that fills it."""
    candidates.sort(key=lambda each: (-len(each.vertices), each.kind is BlockKind.LOOP, each.edge))
    chains: dict[str, list[int]] = {name: [] for name in graph.names}
    blocks: list[Block] = []
    for number, each in enumerate(candidates):
        parents = {chains[name][-1] if chains[name] else None for name in each.vertices}
        parent = min(parents, key=lambda block: -1 if block is None else block)
        if len(parents) > 1 or (parent is not None and _are_twins(each, candidates[parent])):
            graph.complain("blocks_cross", each.edge, _crossing(graph, candidates, number))
        for name in each.vertices:
            chains[name].append(number)
        ordered = tuple(sorted(each.vertices, key=graph.place.__getitem__))
        heads = tuple(sorted(each.heads, key=graph.place.__getitem__))
        blocks.append(Block(each.kind, parent, ordered, heads))
    return tuple(blocks), {name: tuple(chain) for name, chain in chains.items()}


def _check_depth(
    graph: _Graph, around: Mapping[str, tuple[int, ...]], candidates: list[_Candidate]
) -> None:
    for name, blocks in around.items():
        if len(blocks) > MAX_DEPTH:
            _complain_of_depth(graph, candidates[blocks[MAX_DEPTH]].edge, name)
            return


def _are_twins(one: _Candidate, other: _Candidate) -> bool:
    return one.kind is other.kind and one.vertices == other.vertices


def _crossing(graph: _Graph, candidates: list[_Candidate], number: int) -> str:
    block = candidates[number]
    other = next(
        each
        for each in candidates[:number]
        if not each.vertices.isdisjoint(block.vertices)
        and (block.vertices - each.vertices or _are_twins(block, each))
    )
    shared = min(block.vertices & other.vertices, key=graph.place.__getitem__)
    return (
        f"'{shared}' is in {_named(block)} and in {_named(other)}, and neither is inside the other"
    )


def _named(block: _Candidate) -> str:
    return f"the {block.kind} of '{min(block.heads)}'"


def _check_edges(
    graph: _Graph,
    blocks: tuple[Block, ...],
    around: Mapping[str, tuple[int, ...]],
    candidates: list[_Candidate],
) -> None:
    """`collect` and `break` leave their own block, and no edge leaves another."""
    ends = frozenset[str]().union(*(each.sources for each in candidates))
    drawn = cache(partial(drawn_by, graph.edges.values(), around))
    for number, edge in graph.edges.items():
        source, target = around[edge.source.vertex], around[edge.target.vertex]
        left = source[shared_length(source, target) :]
        inner = candidates[source[-1]] if source else None
        if edge.kind is EdgeKind.COLLECT:
            _check_collect(graph, blocks, around, number, drawn)
        elif edge.kind is EdgeKind.BREAK and edge.source.vertex not in ends:
            graph.complain("breaks_nothing", number, f"'{edge.source}' is not the end of a loop")
        elif edge.kind in (EdgeKind.BREAK, EdgeKind.DO_WHILE):
            own = inner is not None and edge.source.vertex in inner.sources
            stays = len(left) <= 1 if edge.kind is EdgeKind.BREAK else source == target
            if not (own and stays):
                _complain_of_leaving(graph, number, edge)
        elif left:
            _complain_of_leaving(graph, number, edge)
    _check_static(graph, around)


def _check_static(graph: _Graph, around: Mapping[str, tuple[int, ...]]) -> None:
    """What enters a block for one port stays there in all rounds, or nothing of it does."""
    entered: dict[tuple[InputPort, bool], set[int]] = defaultdict(set)
    for number, edge in graph.edges.items():
        source, target = around[edge.source.vertex], around[edge.target.vertex]
        blocks, static = target[shared_length(source, target) :], edge.kind is EdgeKind.STATIC
        entered[edge.target, static].update(blocks)
        if entered[edge.target, not static] & set(blocks):
            message = f"'{edge.target}' has static edges from outside its block, and others"
            graph.complain("static_and_others", number, message)


def _check_collect(
    graph: _Graph,
    blocks: tuple[Block, ...],
    around: Mapping[str, tuple[int, ...]],
    number: int,
    drawn: Callable[[str, int], Edge | None],
) -> None:
    edge = graph.edges[number]
    source, target = around[edge.source.vertex], around[edge.target.vertex]
    left = source[shared_length(source, target) :]
    regions = [block for block in source if blocks[block].kind is BlockKind.REGION]
    if not regions:
        message = f"'{edge.source}' is not in a region: a for_each edge before it begins one"
        graph.complain("collects_nothing", number, message)
    elif not left:
        by = drawn(edge.target.vertex, regions[-1])
        message = f"'{edge.target}' is in the region whose iterations it is to gather"
        how = f": '{by.source}' draws it there" if by else ""
        graph.complain("collects_into_itself", number, message + how)
    elif left != (regions[-1],):
        _complain_of_leaving(graph, number, edge)


def _complain_of_depth(graph: _Graph, number: int, vertex: str) -> None:
    message = f"'{vertex}' is in more than {MAX_DEPTH} regions and loops"
    graph.complain("too_deep", number, message)


def _complain_of_leaving(graph: _Graph, number: int, edge: Edge) -> None:
    graph.complain(
        "leaves_two_blocks",
        number,
        f"The edge from '{edge.source}' to '{edge.target}' leaves more than its own block",
    )


def drawn_by(
    edges: Iterable[Edge], around: Mapping[str, tuple[int, ...]], vertex: str, block: int
) -> Edge | None:
    """The edge that has a vertex be in a region: one from inside that does not lead out."""
    for edge in edges:
        is_from_inside = block in around.get(edge.source.vertex, ())
        leads_in = edge.kind not in (EdgeKind.COLLECT, EdgeKind.DO_WHILE)
        if edge.target.vertex == vertex and is_from_inside and leads_in:
            return edge
    return None


def shared_length(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many blocks are around both vertices."""
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length
