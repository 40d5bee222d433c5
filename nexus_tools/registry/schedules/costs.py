"""The funds that a schedule needs for its next execution, estimated before the start.

Source: `schedule.move`, and the sizes in `records.move`.
"""

from nexus_tools.contracts.move_bindings.workflows.schedule import StandingOrder
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow

# The Move constant `schedule::GAS_UNITS` and the constants after it.
_GAS_UNITS, _ENTRY_GAS_UNITS, _BYTES_PER_GAS_UNIT, _STORAGE_MIST = 1_200, 10, 200, 300_000
_EXECUTION_BYTES, _TERMS_BYTES, _ENTRY_BYTES = 500, 275, 276
# The Move constants `records::RUN_BYTES` and `records::NUMBER_BYTES`.
_RUN_BYTES, _NUMBER_BYTES = 316, 4


def trigger_cost_mist(order: StandingOrder, workflow: PublishedWorkflow, gas_price: int) -> int:
    """Return the funds in MIST that the next execution needs, including the keeper's pay."""
    stored_mist = _bytes(order, workflow) * order.terms.settings.fee_per_outcome_byte_mist
    return order.funds_per_execution_mist + _fee_mist(order, workflow, gas_price) + stored_mist


def _fee_mist(order: StandingOrder, workflow: PublishedWorkflow, gas_price: int) -> int:
    entries = len(order.vertices) + len(_entry_vertices(order, workflow))
    units = _GAS_UNITS + _ENTRY_GAS_UNITS * entries + order.values_bytes // _BYTES_PER_GAS_UNIT
    units += workflow.sizes.most_read_units()
    return units * gas_price + _STORAGE_MIST + order.keeper_fee_mist


def _bytes(order: StandingOrder, workflow: PublishedWorkflow) -> int:
    """Return the maximum bytes that the start of an execution stores."""
    terms = _TERMS_BYTES + len(order.terms.bcs.encode(order.terms))
    values = _ENTRY_BYTES * len(order.values) + order.values_bytes
    vertices = [workflow.plan.vertices[name] for name in _entry_vertices(order, workflow)]
    runs = sum(_RUN_BYTES + _NUMBER_BYTES * len(vertex.blocks) for vertex in vertices)
    return _EXECUTION_BYTES + terms + values + runs


def _entry_vertices(order: StandingOrder, workflow: PublishedWorkflow) -> frozenset[str]:
    return [*workflow.plan.groups.values()][order.group]
