"""The effort of the steps of a workflow, which the chain counts in the same way.

A unit of effort is about ten Move instructions. The chain rejects the publication of a workflow
    with a step whose effort is above `MAX_STEP_EFFORT`. Source: `effort.move`, and `check_effort`
    in `dag.move`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.semantics.plan import Plan, PlannedBlock, PlannedEdge, PlannedVertex

MAX_STEP_EFFORT = 8_000
"""The maximum effort of a step."""

REQUEST_EFFORT = 150
"""The effort of requesting a run."""

EDGE_EFFORT = 75
"""The effort of following an edge."""

LOOKUP_EFFORT = 20
"""The effort of looking up the record of a vertex or block."""

PORT_EFFORT = 5
"""The effort of examining an input port."""

SOURCE_EFFORT = 2
"""The effort of examining a source of an input port."""

OPEN_EFFORT = 62
"""The effort of opening a region, and the effort of opening each cursor of the region."""

# The effort of examining a value in a record, of finding an edge's port among the ports of an
# answer, and of starting a vertex of a loop that opens.
_VALUE_EFFORT, _ANSWER_PORT_EFFORT, _START_EFFORT = 2, 2, 30


@dataclass(frozen=True, slots=True)
class Step:
    """The edges that one step follows together: the edges of a variant, or a region's lists."""

    edges: tuple[PlannedEdge, ...]
    region: int | None
    effort: int


def steps_of(plan: Plan) -> Iterator[Step]:
    """Yield each step of a plan.

    There is one step for each variant with edges, and one for each region that collects lists.
    """
    for vertex in plan.vertices.values():
        for edges in vertex.variants.values():
            ports = len({edge.source.port for edge in edges})
            yield Step(edges, None, _effort(plan, edges, ports))
    for number, block in enumerate(plan.blocks):
        if block.collects:
            edges = tuple(block.collects.values())
            # On chain, the edges of a region do not name output ports, so they all have the port
            # name "".
            yield Step(edges, number, _effort(plan, edges, 1))


def flat_effort(edges: int, ports: int) -> int:
    """Return the maximum effort of a variant whose edges all lead to vertices outside all blocks.

    `ports` is an upper bound of the number of input ports of a target, and of the sources of its
    ports.
    """
    look = LOOKUP_EFFORT + (PORT_EFFORT + SOURCE_EFFORT) * ports
    return edges * (EDGE_EFFORT + LOOKUP_EFFORT + _ANSWER_PORT_EFFORT * edges + look)


def _effort(plan: Plan, edges: tuple[PlannedEdge, ...], ports: int) -> int:
    """Return the effort of following edges that start at `ports` different output ports."""
    count = len(edges)
    effort = (EDGE_EFFORT + LOOKUP_EFFORT) * count + _ANSWER_PORT_EFFORT * count * ports
    effort += sum(LOOKUP_EFFORT * len(plan.vertices[edge.target.vertex].blocks) for edge in edges)
    # A step starts a vertex once and opens a block once, even if several edges lead to it.
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
    """Return the effort of examining a vertex whose blocks have `needs` required ports."""
    sources = sum(len(vertex.sources(port)) for port in vertex.incoming)
    ports = PORT_EFFORT * len(vertex.incoming)
    return LOOKUP_EFFORT + ports + SOURCE_EFFORT * sources + _VALUE_EFFORT * needs


def _looking_at_needs(block: PlannedBlock) -> int:
    count = len(block.required_ports)
    return count * (LOOKUP_EFFORT + _VALUE_EFFORT * count)


def _is_region(block: PlannedBlock) -> bool:
    return block.kind is BlockKind.REGION
