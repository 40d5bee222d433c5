"""What an execution takes of its funds: reckoned from its plan, before it is begun.

Source: `terms.move`, `attempt.move`, `records.move` and `invocation.move`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.registry.executions.step_commands import Foresight, RequestRun
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.workflow import (
    MOST_EFFORT,
    REQUEST_EFFORT,
    EdgeKind,
    PlannedEdge,
    PlannedVertex,
)

# What `advance` rewrites, and what a request writes at most.
_RECORD_BYTES, _INVOCATION_BYTES = 1_500, 1_600
# The gas units of what follows a closing, of 1 000 bytes that are read, and how many are read.
_STEP_GAS_UNITS, _READ_GAS_UNITS, _READ_FACTOR = 1_050, 40, 3
# More than the effort of an edge, of a port and of a cursor where it leads.
_EDGE_EFFORT, _PORT_EFFORT, _CURSOR_EFFORT = 200, 10, 80
# The bytes of an outcome that fees cover, and the gas units of rewriting 1 000 more.
_COVERED_BYTES, _REWRITE_GAS_UNITS = 1_000, 25
# The bytes of a tool that the effort of a request covers, and the gas units of reading 1 000 more.
_COVERED_TOOL_BYTES, _TOOL_GAS_UNITS = 1_000, 15
# Hundredths of gas units for each unit of effort, beyond each of these bounds.
_EFFORT_GAS = {0: 35, 2_000: 27, 3_200: 125, 5_000: 220}
# What records take, of a run, of a block that was entered, and of what a list got.
_RUN_BYTES, _INSTANCE_BYTES, _MARK_BYTES = 330, 330, 333
_NUMBER_BYTES, _DELIVERY_BYTES, _BROUGHT_BYTES, _CURSOR_BYTES = 4, 9, 24, 12

_SOME_TIMES = 8


@dataclass(frozen=True, slots=True)
class VertexCost:
    """What one run of a vertex takes at most, in MIST.

    `charge_mist` is the tool's: its price, and the gas of one on chain. `run_mist` is that, the
    fees of leaders and the largest outcome of one attempt, `stored_mist` what Sui takes for its
    records, which comes back to who cleans up, and `worked_mist` what a worker gets for its steps.
    """

    vertex: str
    fqn: str
    charge_mist: int
    run_mist: int
    stored_mist: int
    worked_mist: int
    attempts: int
    is_repeated: bool

    @property
    def first_mist(self) -> int:
        """What has to be in the funds for it to be requested."""
        return self.run_mist + self.stored_mist + self.worked_mist

    @property
    def all_mist(self) -> int:
        """What it takes if only the last attempt succeeds: one that failed pays no price."""
        failed_mist = self.run_mist - self.charge_mist + self.stored_mist + self.worked_mist
        return self.first_mist + (self.attempts - 1) * failed_mist


@dataclass(frozen=True, slots=True)
class ExecutionCost:
    """What an execution takes of its funds, in MIST; what it leaves comes back at the end.

    `begin_mist` is needed for the first runs. `once_mist` is enough if each vertex runs once, as it
    does outside of loops and regions, and `most_mist` in any case: it is bounded by `max_steps`.
    """

    vertices: tuple[VertexCost, ...]
    begin_mist: int
    once_mist: int
    most_mist: int

    @property
    def usual_mist(self) -> int:
        """Funds that are enough if vertices in loops and regions run some times, not many."""
        more = sum(each.all_mist for each in self.vertices if each.is_repeated)
        return min(self.once_mist + (_SOME_TIMES - 1) * more, self.most_mist)

    @property
    def is_bounded(self) -> bool:
        """Whether no vertex runs more than once, so that `once_mist` is enough for sure."""
        return not any(each.is_repeated for each in self.vertices)


def execution_cost(
    workflow: PublishedWorkflow,
    group: str,
    tools: Mapping[str, Tool],
    settings: LeaderSettings,
    *,
    max_outcome_bytes: int,
    max_steps: int,
    gas_price: int,
) -> ExecutionCost:
    """What an execution that begins with a group takes, with these tools by FQN."""
    byte_mist = settings.fee_per_outcome_byte_mist
    numbers = {name: number for number, name in enumerate(workflow.plan.vertices)}

    def cost(name: str, vertex: PlannedVertex) -> VertexCost:
        tool = tools[vertex.vertex.fqn]
        return VertexCost(
            name,
            vertex.vertex.fqn,
            tool.charge_mist,
            attempt_mist(settings, tool, max_outcome_bytes, gas_price),
            _stored_bytes(workflow, vertex) * byte_mist,
            _worked_mist(_effort(workflow, vertex), gas_price)
            + _read_units(workflow, numbers, vertex, tool) * gas_price,
            vertex.vertex.attempts,
            bool(vertex.blocks),
        )

    costs = {name: cost(name, vertex) for name, vertex in workflow.plan.vertices.items()}
    foresight = Foresight(workflow.plan)
    foresight.begun(group)
    first = [each.run.vertex for each in foresight.steps() if isinstance(each, RequestRun)]
    once_mist = sum(each.all_mist for each in costs.values())
    dearest_mist = max((each.first_mist for each in costs.values()), default=0)
    bounded = not any(each.is_repeated for each in costs.values())
    # The step beyond the last one is refused, and has to be covered as if it were not.
    any_mist = (max_steps + 1) * dearest_mist
    return ExecutionCost(
        tuple(costs.values()),
        sum(costs[name].first_mist for name in first),
        once_mist,
        min(once_mist, any_mist) if bounded else any_mist,
    )


def attempt_mist(
    settings: LeaderSettings, tool: Tool, max_outcome_bytes: int, gas_price: int
) -> int:
    """What an attempt of a run prepays, in MIST, as `terms::cost_mist` says."""
    is_read = tool.requires_signed_outcome or tool.definition.function is not None
    read_bytes = _READ_FACTOR * settings.max_ports_bytes if is_read else 0
    return (
        tool.charge_mist
        + settings.fee_gas_units * gas_price
        + settings.fee_storage_mist
        + settings.settle_margin_mist // 2
        + read_bytes * _READ_GAS_UNITS * gas_price // 1_000
        + settings.fee_per_outcome_byte_mist * max_outcome_bytes
        + _advancing_mist(settings, max_outcome_bytes, gas_price)
    )


def _worked_mist(effort: int, gas_price: int) -> int:
    """What a worker gets for the effort of a step, in MIST, as `terms::worked_mist` says."""
    effort = min(effort, MOST_EFFORT)
    hundredths = sum(price * max(0, effort - bound) for bound, price in _EFFORT_GAS.items())
    return hundredths * gas_price // 100


def _advancing_mist(settings: LeaderSettings, outcome_bytes: int, gas_price: int) -> int:
    """Return what the sender of `advance` gets, in MIST, as `terms::advancing_mist` says."""
    more = max(0, outcome_bytes - _COVERED_BYTES)
    bytes_mist = (_RECORD_BYTES + more) * settings.fee_per_input_byte_mist
    return _STEP_GAS_UNITS * gas_price + bytes_mist + more * _REWRITE_GAS_UNITS * gas_price // 1_000


def _effort(workflow: PublishedWorkflow, vertex: PlannedVertex) -> int:
    """The effort of a run: its request, and following the edges of the largest variant."""
    brought = [sum(_edge_effort(workflow, each) for each in edges) for edges in _variants(vertex)]
    return REQUEST_EFFORT + max(brought, default=0)


def _edge_effort(workflow: PublishedWorkflow, edge: PlannedEdge) -> int:
    ports = len(workflow.plan.vertices[edge.target.vertex].into)
    cursors = 0 if edge.scope is None else len(workflow.plan.blocks[edge.scope].cursors)
    return _EDGE_EFFORT + _PORT_EFFORT * ports + _CURSOR_EFFORT * cursors


def _read_units(
    workflow: PublishedWorkflow, numbers: Mapping[str, int], vertex: PlannedVertex, tool: Tool
) -> int:
    """The gas units of reading the workflow twice, to request a run and to go on, and the tool."""
    plan = workflow.plan
    edges = [edge for edges in _variants(vertex) for edge in edges]
    near = [vertex, *(plan.vertices[edge.target.vertex] for edge in edges)]
    blocks = {block for each in near for block in each.blocks}
    needs = {need.vertex for block in blocks for need in plan.blocks[block].needs}
    vertices = {each.vertex.name for each in near} | needs
    definition = tool.definition
    texts = (definition.fqn, definition.url, definition.description)
    tool_bytes = sum(len(text.encode()) for text in texts)
    tool_bytes += len(definition.input_schema) + len(definition.output_schema)
    tool_units = max(tool_bytes - _COVERED_TOOL_BYTES, 0) * _TOOL_GAS_UNITS // 1_000 + 1
    return 2 * workflow.sizes.read_units([numbers[each] for each in vertices], blocks) + tool_units


def _stored_bytes(workflow: PublishedWorkflow, vertex: PlannedVertex) -> int:
    """What a run writes at most: itself, and what the edges of the largest variant bring."""
    brought = [sum(_edge_bytes(workflow, each) for each in edges) for edges in _variants(vertex)]
    own = _INVOCATION_BYTES + _RUN_BYTES + _NUMBER_BYTES * len(vertex.blocks)
    return own + max(brought, default=0)


def _variants(vertex: PlannedVertex) -> Sequence[Sequence[PlannedEdge]]:
    return tuple(vertex.variants.values())


def _edge_bytes(workflow: PublishedWorkflow, edge: PlannedEdge) -> int:
    numbers = _NUMBER_BYTES * (edge.keeps + edge.zeros)
    if edge.kind is EdgeKind.COLLECT:
        return _MARK_BYTES + numbers
    if edge.scope is None:
        return _DELIVERY_BYTES
    block = workflow.plan.blocks[edge.scope]
    cursors = _CURSOR_BYTES * len(block.cursors)
    return _INSTANCE_BYTES + numbers + _BROUGHT_BYTES + len(edge.rounds) + cursors
