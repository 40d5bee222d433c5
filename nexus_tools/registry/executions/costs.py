"""Estimates of the cost of an execution, computed from the workflow's plan before the start.

Source: `terms.move`, `attempt.move`, `records.move` and `invocation.move`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nexus_tools.contracts.move_bindings.leader_registry import LeaderSettings
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.registry.executions.step_commands import RequestRun, StepPredictor
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.workflow import (
    MAX_STEP_EFFORT,
    REQUEST_EFFORT,
    EdgeKind,
    PlannedEdge,
    PlannedVertex,
)

# The number of bytes that `advance` rewrites, and the maximum number that a request writes.
_RECORD_BYTES, _INVOCATION_BYTES = 1_500, 1_600
# The gas units of the steps after a closing, and of reading 1 000 bytes. The third constant is the
# number of bytes that the chain reads for each byte of the limit of the ports.
_STEP_GAS_UNITS, _READ_GAS_UNITS, _READ_FACTOR = 1_060, 40, 3
# Upper bounds of the effort for an edge, a port of its target vertex, and a cursor of the target.
_EDGE_EFFORT, _PORT_EFFORT, _CURSOR_EFFORT = 200, 10, 80
# The outcome size in bytes that the fees cover, and the gas units of rewriting 1 000 more bytes.
_COVERED_BYTES, _REWRITE_GAS_UNITS = 1_000, 25
# The tool size in bytes that the effort of a request covers, and the gas units of reading 1 000
# more bytes.
_COVERED_TOOL_BYTES, _TOOL_GAS_UNITS = 1_000, 15
# The keys are lower bounds of the effort. The values are the hundredths of a gas unit that each
# unit of effort above the bound adds. For example, an effort of 3 000 costs 3 000 * 35 + 1 000 * 27
# hundredths.
_EFFORT_GAS = {0: 35, 2_000: 27, 3_200: 125, 5_000: 220}
# The sizes in bytes of the records of a run, of a block instance, and of an element of a list.
_RUN_BYTES, _INSTANCE_BYTES, _MARK_BYTES = 330, 330, 333
_NUMBER_BYTES, _DELIVERY_BYTES, _BROUGHT_BYTES, _CURSOR_BYTES = 4, 9, 24, 12

_REPETITIONS = 8


@dataclass(frozen=True, slots=True)
class VertexCost:
    """The maximum cost of one run of a vertex, in MIST.

    `charge_mist` is the price of the tool, and the gas of an on-chain tool. `attempt_mist` adds the
    leaders' fees and the largest outcome of one attempt. `storage_mist` pays for the storage of the
    run's records, which is rebated to the account that cleans up the execution. `steps_mist` pays a
    worker for the run's steps.
    """

    vertex: str
    fqn: str
    charge_mist: int
    attempt_mist: int
    storage_mist: int
    steps_mist: int
    attempts: int
    is_repeated: bool

    @property
    def first_run_mist(self) -> int:
        """The funds that are needed to request one run."""
        return self.attempt_mist + self.storage_mist + self.steps_mist

    @property
    def maximum_mist(self) -> int:
        """The cost if only the last attempt succeeds. Failed attempts do not pay `charge_mist`."""
        failed_mist = self.attempt_mist - self.charge_mist + self.storage_mist + self.steps_mist
        return self.first_run_mist + (self.attempts - 1) * failed_mist


@dataclass(frozen=True, slots=True)
class ExecutionCost:
    """The estimated cost of an execution, in MIST. Unused funds are refunded at its end.

    `start_mist` covers the first runs. `single_pass_mist` covers one run of each vertex, which is
    enough for a workflow without loops and regions. `maximum_mist` covers every case, because
    `max_steps` limits the number of runs.
    """

    vertices: tuple[VertexCost, ...]
    start_mist: int
    single_pass_mist: int
    maximum_mist: int

    @property
    def recommended_mist(self) -> int:
        """The funds for eight runs of vertices in loops or regions, and one run of the others."""
        repeated_mist = sum(vertex.maximum_mist for vertex in self.vertices if vertex.is_repeated)
        return min(self.single_pass_mist + (_REPETITIONS - 1) * repeated_mist, self.maximum_mist)

    @property
    def is_bounded(self) -> bool:
        """Whether no vertex runs more than once, so that `single_pass_mist` is always enough."""
        return not any(vertex.is_repeated for vertex in self.vertices)


def estimate_execution_cost(
    workflow: PublishedWorkflow,
    group: str,
    tools: Mapping[str, Tool],
    settings: LeaderSettings,
    *,
    max_outcome_bytes: int,
    max_steps: int,
    gas_price: int,
) -> ExecutionCost:
    """Estimate the cost of an execution that starts with an entry group.

    `tools` maps FQNs to tools.
    """
    byte_mist = settings.fee_per_outcome_byte_mist
    numbers = {name: number for number, name in enumerate(workflow.plan.vertices)}

    def cost(name: str, vertex: PlannedVertex) -> VertexCost:
        tool = tools[vertex.vertex.fqn]
        return VertexCost(
            name,
            vertex.vertex.fqn,
            tool.charge_mist,
            attempt_mist(settings, tool, max_outcome_bytes, gas_price),
            _storage_bytes(workflow, vertex) * byte_mist,
            _worker_mist(_effort(workflow, vertex), gas_price)
            + _read_units(workflow, numbers, vertex, tool) * gas_price,
            vertex.vertex.attempts,
            bool(vertex.blocks),
        )

    costs = {name: cost(name, vertex) for name, vertex in workflow.plan.vertices.items()}
    predictor = StepPredictor(workflow.plan)
    predictor.add_start(group)
    first = [step.run.vertex for step in predictor.steps() if isinstance(step, RequestRun)]
    once_mist = sum(vertex_cost.maximum_mist for vertex_cost in costs.values())
    highest_mist = max((vertex_cost.first_run_mist for vertex_cost in costs.values()), default=0)
    is_bounded = not any(vertex_cost.is_repeated for vertex_cost in costs.values())
    # The chain refuses the step after the last allowed step, but it first requires funds for the
    # refused step.
    max_steps_mist = (max_steps + 1) * highest_mist
    return ExecutionCost(
        tuple(costs.values()),
        sum(costs[name].first_run_mist for name in first),
        once_mist,
        min(once_mist, max_steps_mist) if is_bounded else max_steps_mist,
    )


def attempt_mist(
    settings: LeaderSettings, tool: Tool, max_outcome_bytes: int, gas_price: int
) -> int:
    """Return the prepayment of one attempt in MIST, as `terms::cost_mist` computes it."""
    is_read = tool.requires_signed_outcome or tool.definition.function is not None
    read_bytes = _READ_FACTOR * settings.max_ports_bytes if is_read else 0
    return (
        tool.charge_mist
        + settings.fee_gas_units * gas_price
        + settings.fee_storage_mist
        + settings.settle_margin_mist // 2
        + read_bytes * _READ_GAS_UNITS * gas_price // 1_000
        + settings.fee_per_outcome_byte_mist * max_outcome_bytes
        + _advance_mist(settings, max_outcome_bytes, gas_price)
    )


def _worker_mist(effort: int, gas_price: int) -> int:
    """Return the amount that a worker is paid for a step in MIST, as in `terms::effort_mist`."""
    effort = min(effort, MAX_STEP_EFFORT)
    hundredths = sum(price * max(0, effort - bound) for bound, price in _EFFORT_GAS.items())
    return hundredths * gas_price // 100


def _advance_mist(settings: LeaderSettings, outcome_bytes: int, gas_price: int) -> int:
    """Return the amount that the sender of `advance` is paid in MIST (`terms::advance_mist`)."""
    extra_bytes = max(0, outcome_bytes - _COVERED_BYTES)
    bytes_mist = (_RECORD_BYTES + extra_bytes) * settings.fee_per_input_byte_mist
    return (
        _STEP_GAS_UNITS * gas_price
        + bytes_mist
        + extra_bytes * _REWRITE_GAS_UNITS * gas_price // 1_000
    )


def _effort(workflow: PublishedWorkflow, vertex: PlannedVertex) -> int:
    """Return the effort of a run: its request, and the edges of its most expensive variant."""
    efforts = [sum(_edge_effort(workflow, edge) for edge in edges) for edges in _variants(vertex)]
    return REQUEST_EFFORT + max(efforts, default=0)


def _edge_effort(workflow: PublishedWorkflow, edge: PlannedEdge) -> int:
    ports = len(workflow.plan.vertices[edge.target.vertex].incoming)
    cursors = 0 if edge.scope is None else len(workflow.plan.blocks[edge.scope].cursors)
    return _EDGE_EFFORT + _PORT_EFFORT * ports + _CURSOR_EFFORT * cursors


def _read_units(
    workflow: PublishedWorkflow, numbers: Mapping[str, int], vertex: PlannedVertex, tool: Tool
) -> int:
    """Return the gas units of reading the tool once and the workflow twice.

    The request and the `advance` of a run both read the workflow.
    """
    plan = workflow.plan
    edges = [edge for edges in _variants(vertex) for edge in edges]
    neighbors = [vertex, *(plan.vertices[edge.target.vertex] for edge in edges)]
    blocks = {block for neighbor in neighbors for block in neighbor.blocks}
    needs = {need.vertex for block in blocks for need in plan.blocks[block].required_ports}
    vertices = {neighbor.vertex.name for neighbor in neighbors} | needs
    definition = tool.definition
    texts = (definition.fqn, definition.url, definition.description)
    tool_bytes = sum(len(text.encode()) for text in texts)
    tool_bytes += len(definition.input_schema) + len(definition.output_schema)
    tool_units = max(tool_bytes - _COVERED_TOOL_BYTES, 0) * _TOOL_GAS_UNITS // 1_000 + 1
    return 2 * workflow.sizes.read_units([numbers[name] for name in vertices], blocks) + tool_units


def _storage_bytes(workflow: PublishedWorkflow, vertex: PlannedVertex) -> int:
    """Return the maximum number of bytes that a run and the edges of its largest variant write."""
    edge_bytes = [sum(_edge_bytes(workflow, edge) for edge in edges) for edges in _variants(vertex)]
    own_bytes = _INVOCATION_BYTES + _RUN_BYTES + _NUMBER_BYTES * len(vertex.blocks)
    return own_bytes + max(edge_bytes, default=0)


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
