"""The nested blocks of a workflow, which are regions and loops.

A *region* runs for each element of a list, and lies between `for_each` edges and the `collect`
edges that gather its iterations. A *loop* runs in rounds. The heads of a loop are the targets of
its `do_while` edges. The loop has the vertices that the heads reach before the `break` edges. Any
two blocks are either nested or disjoint. The path of a run has one number for each block around its
vertex.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from nexus_tools.workflow.document.document import Document, Edge, EdgeKind, InputPort
from nexus_tools.workflow.document.repetition import (
    MAX_DEPTH,
    BlockKind,
    EdgeGraph,
    Repetition,
    repetitions,
)
from nexus_tools.workflow.document.violation import Violation

# After these problems, it is unclear which edge leaves which block, so edges are not checked.
_UNCLEAR = frozenset({"blocks_cross", "too_deep"})


@dataclass(frozen=True, slots=True)
class Block:
    """The vertices that are repeated together, including the vertices of inner blocks.

    `heads` are the targets of the block's `for_each` or `do_while` edges. `parent` is the number of
    the enclosing block.
    """

    kind: BlockKind
    parent: int | None
    vertices: tuple[str, ...]
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """The blocks of a workflow, with parents first, and the blocks around each vertex.

    `problems` refer to edges. The blocks around a vertex are ordered from the outermost block
    inwards. If the document has problems, the blocks may be incomplete or wrong.
    """

    blocks: tuple[Block, ...]
    enclosing: Mapping[str, tuple[int, ...]]
    problems: tuple[Violation, ...]

    def entered_by(self, edge: Edge) -> tuple[int, ...]:
        """Return the blocks that an edge enters, outermost first."""
        source, target = (
            self.enclosing.get(port.vertex, ()) for port in (edge.source, edge.target)
        )
        return target[shared_length(source, target) :]

    def waiting_blocks(self, edge: Edge) -> tuple[int, ...]:
        """Return the blocks that an edge enters, and that need its value before they open.

        The blocks are the entered regions, or all entered blocks if the edge is static.
        """
        return tuple(
            block
            for block in self.entered_by(edge)
            if edge.kind is EdgeKind.STATIC or self.blocks[block].kind is BlockKind.REGION
        )


def find_structure(document: Document) -> Structure:
    """Return the structure of any document. Edges to or from missing vertices are ignored."""
    graph = EdgeGraph(document)
    found = repetitions(graph)
    blocks, around = _nested(graph, found)
    _check_depth(graph, around, found)
    if not any(problem.rule in _UNCLEAR for problem in graph.problems):
        _check_edges(graph, blocks, around, found)
    return Structure(blocks, around, tuple(dict.fromkeys(graph.problems)))


# --- Nesting


def _nested(
    graph: EdgeGraph, found: list[Repetition]
) -> tuple[tuple[Block, ...], dict[str, tuple[int, ...]]]:
    """Return the blocks in descending size, so that parents come first.

    A region precedes a loop with the same vertices.
    """
    found.sort(
        key=lambda repetition: (
            -len(repetition.vertices),
            repetition.kind is BlockKind.LOOP,
            repetition.edge,
        )
    )
    chains: dict[str, list[int]] = {name: [] for name in graph.names}
    blocks: list[Block] = []
    for number, repetition in enumerate(found):
        parents = {chains[name][-1] if chains[name] else None for name in repetition.vertices}
        parent = min(parents, key=lambda block: -1 if block is None else block)
        if len(parents) > 1 or (parent is not None and _are_twins(repetition, found[parent])):
            graph.complain("blocks_cross", repetition.edge, _crossing(graph, found, number))
        for name in repetition.vertices:
            chains[name].append(number)
        ordered = tuple(sorted(repetition.vertices, key=graph.place.__getitem__))
        heads = tuple(sorted(repetition.heads, key=graph.place.__getitem__))
        blocks.append(Block(repetition.kind, parent, ordered, heads))
    return tuple(blocks), {name: tuple(chain) for name, chain in chains.items()}


def _check_depth(
    graph: EdgeGraph, around: Mapping[str, tuple[int, ...]], found: list[Repetition]
) -> None:
    for name, blocks in around.items():
        if len(blocks) > MAX_DEPTH:
            graph.complain_of_depth(found[blocks[MAX_DEPTH]].edge, name)
            return


def _are_twins(one: Repetition, other: Repetition) -> bool:
    return one.kind is other.kind and one.vertices == other.vertices


def _crossing(graph: EdgeGraph, found: list[Repetition], number: int) -> str:
    block = found[number]
    other = next(
        candidate
        for candidate in found[:number]
        if not candidate.vertices.isdisjoint(block.vertices)
        and (block.vertices - candidate.vertices or _are_twins(block, candidate))
    )
    shared = min(block.vertices & other.vertices, key=graph.place.__getitem__)
    return (
        f"'{shared}' is in {_named(block)} and in {_named(other)}, but neither contains the other"
    )


def _named(block: Repetition) -> str:
    return f"the {block.kind} of '{min(block.heads)}'"


def _check_edges(
    graph: EdgeGraph,
    blocks: tuple[Block, ...],
    around: Mapping[str, tuple[int, ...]],
    found: list[Repetition],
) -> None:
    """Check that `collect` and `break` edges leave only their own block.

    Other edges must not leave a block.
    """
    ends = frozenset[str]().union(*(repetition.sources for repetition in found))
    drawn = cache(partial(edge_pulling_into, graph.edges.values(), around))
    for number, edge in graph.edges.items():
        source, target = around[edge.source.vertex], around[edge.target.vertex]
        left = source[shared_length(source, target) :]
        inner = found[source[-1]] if source else None
        if edge.kind is EdgeKind.COLLECT:
            _check_collect(graph, blocks, around, number, drawn)
        elif edge.kind is EdgeKind.BREAK and edge.source.vertex not in ends:
            graph.complain("breaks_nothing", number, f"'{edge.source}' does not end a loop")
        elif edge.kind in (EdgeKind.BREAK, EdgeKind.DO_WHILE):
            own = inner is not None and edge.source.vertex in inner.sources
            stays = len(left) <= 1 if edge.kind is EdgeKind.BREAK else source == target
            if not (own and stays):
                _complain_of_leaving(graph, number, edge)
        elif left:
            _complain_of_leaving(graph, number, edge)
    _check_static(graph, around)


def _check_static(graph: EdgeGraph, around: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the edges into a block for one port are all static, or all not static."""
    entered: dict[tuple[InputPort, bool], set[int]] = defaultdict(set)
    for number, edge in graph.edges.items():
        source, target = around[edge.source.vertex], around[edge.target.vertex]
        blocks, static = target[shared_length(source, target) :], edge.kind is EdgeKind.STATIC
        entered[edge.target, static].update(blocks)
        if entered[edge.target, not static] & set(blocks):
            message = f"'{edge.target}' has both static and non-static edges from outside its block"
            graph.complain("static_and_others", number, message)


def _check_collect(
    graph: EdgeGraph,
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
        message = f"'{edge.source}' is not in a region, which starts with a for_each edge"
        graph.complain("collects_nothing", number, message)
    elif not left:
        by = drawn(edge.target.vertex, regions[-1])
        message = f"'{edge.target}' is inside the region that its edge gathers"
        how = f", because of the edge from '{by.source}'" if by else ""
        graph.complain("collects_into_itself", number, message + how)
    elif left != (regions[-1],):
        _complain_of_leaving(graph, number, edge)


def _complain_of_leaving(graph: EdgeGraph, number: int, edge: Edge) -> None:
    graph.complain(
        "leaves_two_blocks",
        number,
        f"The edge from '{edge.source}' to '{edge.target}' leaves more than its innermost block",
    )


def edge_pulling_into(
    edges: Iterable[Edge], around: Mapping[str, tuple[int, ...]], vertex: str, block: int
) -> Edge | None:
    """Return an edge from inside a region, other than a `collect` edge, that leads to a vertex."""
    for edge in edges:
        is_from_inside = block in around.get(edge.source.vertex, ())
        leads_in = edge.kind not in (EdgeKind.COLLECT, EdgeKind.DO_WHILE)
        if edge.target.vertex == vertex and is_from_inside and leads_in:
            return edge
    return None


def shared_length(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the number of common outer blocks of two vertices, given the blocks of each."""
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length
