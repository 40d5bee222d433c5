"""The funds that the steps of an execution need before they happen.

Source: `terms.move`, `progress.move` and `records.move`.
"""

from types import SimpleNamespace

from nexus_tools.registry.executions.costs import estimate_execution_cost
from nexus_tools.workflow import DEFAULT_GROUP, ERR_EVAL
from tests.economics.counted_execution import (
    BROUGHT_BYTES,
    CURSOR_BYTES,
    DELIVERY_BYTES,
    EDGE,
    INSTANCE_BYTES,
    LOOK,
    MARK_BYTES,
    NUMBER_BYTES,
    REQUEST,
    RUN_BYTES,
)
from tests.economics.fee_rules import BYTE_MIST, SETTINGS

MAX_DEPTH, MAX_CURSORS = 8, 32
MOST_INVOCATION_BYTES = 1_600


class FundsShortError(Exception):
    """A step costs more than the funds cover: its transaction does not happen."""


class Needs:
    """The funds that each step of an execution of a plan needs, in MIST."""

    def __init__(self, plan, kind_of, fees, max_outcome_bytes):
        self.plan, self.kind_of, self.fees = plan, kind_of, fees
        self.max_outcome_bytes = max_outcome_bytes

    def attempt_mist(self, vertex):
        """Return the prepayment for an attempt of a vertex."""
        return self.fees.attempt_mist(self.kind_of(vertex), self.max_outcome_bytes)

    def requests_mist(self, vertex, count, *, is_refused):
        """Return the funds for `count` requests."""
        stored = RUN_BYTES + NUMBER_BYTES * len(self.plan.vertices[vertex].blocks)
        stored += MOST_INVOCATION_BYTES
        requested_mist = self.attempt_mist(vertex) + stored * BYTE_MIST
        requested_mist += self.fees.worked_mist(REQUEST)
        if not is_refused:
            return count * requested_mist
        failed = self._edges(vertex, ERR_EVAL)
        stored += sum(map(self._edge_bytes, failed))
        refused_mist = self.fees.refusing_mist() + stored * BYTE_MIST + self._least_mist(failed)
        return count * max(requested_mist, refused_mist)

    def advance_mist(self, vertex, variant, outcome_bytes):
        """Return the funds to continue with a variant; the variant of a failure is None."""
        failed = self._edges(vertex, ERR_EVAL)
        most = sum(map(self._edge_bytes, failed))
        edges = failed
        if variant is not None:
            edges = self._edges(vertex, variant)
            most = max(most + len("port_missing"), sum(map(self._edge_bytes, edges)))
        advancing_mist = self.fees.advancing_mist(outcome_bytes)
        return most * BYTE_MIST + advancing_mist + self._least_mist(edges)

    def gather_mist(self, block):
        """Return the funds to move the lists out of a region."""
        edges = self.plan.blocks[block].collects.values()
        return sum(map(self._brought_bytes, edges)) * BYTE_MIST + self._least_mist(edges)

    def _edges(self, vertex, variant):
        return self.plan.vertices[vertex].variants.get(variant, ())

    def _least_mist(self, edges):
        return self.fees.worked_mist((EDGE + LOOK) * len(edges))

    def _edge_bytes(self, edge):
        marked = MARK_BYTES + NUMBER_BYTES * MAX_DEPTH
        return marked if edge.collected_region is not None else self._brought_bytes(edge)

    def _brought_bytes(self, edge):
        run_bytes = RUN_BYTES + NUMBER_BYTES * MAX_DEPTH + DELIVERY_BYTES
        if edge.scope is None:
            return run_bytes
        block = self.plan.blocks[edge.scope]
        start_bytes = run_bytes + CURSOR_BYTES * MAX_CURSORS
        own = INSTANCE_BYTES + NUMBER_BYTES * MAX_DEPTH + BROUGHT_BYTES + 1 + len(edge.rounds)
        return own + CURSOR_BYTES * len(block.cursors) + start_bytes * len(block.starts)


def estimate(plan, kinds, fees, *, max_outcome_bytes, max_steps):
    """Return the `ExecutionCost` that an owner sees; `kinds` are by tool FQN.

    The workflows and the tools are so small that fees cover the cost of reading them.
    """
    texts = dict.fromkeys(("fqn", "url", "description", "input_schema", "output_schema"), "")
    tools = {
        fqn: SimpleNamespace(
            charge_mist=kind.gas_mist,
            requires_signed_outcome=kind.is_read and not kind.gas_mist,
            definition=SimpleNamespace(function=kind.gas_mist or None, **texts),
        )
        for fqn, kind in kinds.items()
    }
    return estimate_execution_cost(
        SimpleNamespace(plan=plan, sizes=SimpleNamespace(read_units=lambda *_: 0)),
        DEFAULT_GROUP,
        tools,
        SETTINGS,
        max_outcome_bytes=max_outcome_bytes,
        max_steps=max_steps,
        gas_price=fees.gas_price,
    )
