"""The effort of the steps of a workflow, counted as on chain.

The unit is about ten Move instructions. The chain does not publish a workflow with a step whose
effort is above `MAX_STEP_EFFORT`. Source: `effort.move`, and `check_effort` in `dag.move`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.semantics.plan import Plan, PlannedBlock, PlannedEdge, PlannedVertex

MAX_STEP_EFFORT = 8_000
"""The highest effort of a step."""

REQUEST_EFFORT = 150
"""Requesting a run."""

EDGE_EFFORT = 75
"""Following an edge."""

LOOKUP_EFFORT = 20
"""Looking up the record of a vertex or block."""

PORT_EFFORT = 5
"""Looking at an input port."""

SOURCE_EFFORT = 2
"""Looking at a source of an input port."""

OPEN_EFFORT = 62
"""Opening a region, and each of its cursors."""

# A value that was brought to a record, the port of an edge among those of an answer, and starting a
# vertex of a loop that opens.
_VALUE_EFFORT, _ANSWER_PORT_EFFORT, _START_EFFORT = 2, 2, 30


@dataclass(frozen=True, slots=True)
class Step:
    """The edges that one step follows together: those of a variant, or the lists of a region."""

    edges: tuple[PlannedEdge, ...]
    region: int | None
    effort: int


def steps_of(plan: Plan) -> Iterator[Step]:
    """Yield each step of a plan: one for each variant with edges, one for each closing region."""
    for vertex in plan.vertices.values():
        for edges in vertex.variants.values():
            ports = len({edge.source.port for edge in edges})
            yield Step(edges, None, _effort(plan, edges, ports))
    for number, block in enumerate(plan.blocks):
        if block.collects:
            edges = tuple(block.collects.values())
            # On chain, no edge of a region names an output port: all have the empty name.
            yield Step(edges, number, _effort(plan, edges, 1))


def flat_effort(edges: int, ports: int) -> int:
    """Return the most that edges of a variant take that lead to vertices outside all blocks.

    `ports` is the highest number of input ports of these vertices, and of sources of all of them.
    """
    look = LOOKUP_EFFORT + (PORT_EFFORT + SOURCE_EFFORT) * ports
    return edges * (EDGE_EFFORT + LOOKUP_EFFORT + _ANSWER_PORT_EFFORT * edges + look)


def _effort(plan: Plan, edges: tuple[PlannedEdge, ...], ports: int) -> int:
    """Return the effort of following edges from this number of output ports."""
    count = len(edges)
    effort = (EDGE_EFFORT + LOOKUP_EFFORT) * count + _ANSWER_PORT_EFFORT * count * ports
    effort += sum(LOOKUP_EFFORT * len(plan.vertices[edge.target.vertex].blocks) for edge in edges)
    # A step starts a vertex once, and opens a block once, for any number of edges to it.
    starts = {
        edge.target.vertex for edge in edges if edge.collected_region is None and edge.scope is None
    }
    opens = {edge.scope for edge in edges if edge.scope is not None}
    effort += sum(_starting(plan, plan.vertices[vertex]) for vertex in starts)
    return effort + sum(_opening(plan, plan.blocks[block]) for block in opens)


def _starting(plan: Plan, vertex: PlannedVertex) -> int:
    blocks = [plan.blocks[number] for number in vertex.blocks]
    around = sum(
        LOOKUP_EFFORT if _is_region(block) else _looking_at_needs(block) for block in blocks
    )
    return around + _looking_at(vertex, sum(len(block.required_ports) for block in blocks))


def _opening(plan: Plan, block: PlannedBlock) -> int:
    effort = _looking_at_needs(block)
    if _is_region(block):
        effort += OPEN_EFFORT * (1 + len(block.cursors))
    for name in block.cursors:
        effort += _looking_at(plan.vertices[name], len(block.required_ports))
    for start in block.starts:
        if isinstance(start, int):
            effort += _opening(plan, plan.blocks[start])
        else:
            effort += _START_EFFORT + _starting(plan, plan.vertices[start])
    return effort


def _looking_at(vertex: PlannedVertex, needs: int) -> int:
    """Return the effort of a look at a vertex inside blocks with this number of needs."""
    sources = sum(len(vertex.sources(port)) for port in vertex.incoming)
    ports = PORT_EFFORT * len(vertex.incoming)
    return LOOKUP_EFFORT + ports + SOURCE_EFFORT * sources + _VALUE_EFFORT * needs


def _looking_at_needs(block: PlannedBlock) -> int:
    count = len(block.required_ports)
    return count * (LOOKUP_EFFORT + _VALUE_EFFORT * count)


def _is_region(block: PlannedBlock) -> bool:
    return block.kind is BlockKind.REGION
