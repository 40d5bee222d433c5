"""An account that stores data for an execution is refunded Sui's charge exactly, to the MIST.

Computation is paid separately, by effort: 350 MIST for each unit of the first 2 000, at a gas price
of 1 000. A byte costs 7 600 MIST, so a few bytes more or less cannot be mistaken for effort.
"""

import dataclasses

import pytest

from nexus_tools.contracts.move_bindings.workflows import records as moves
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.workflow import (
    DIALECT,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    Vertex,
    find_structure,
)
from tests.executions.carrying import Carried
from tests.executions.conftest import ANY, DEAR
from tests.workflow.random_documents import grown, outcome_of, strewn

DOCUMENTS = 6


async def run_and_measure(carrier, document, seed):
    """Run an execution to its end, and measure each command."""
    execution = Carried(carrier, await carrier.publish(document))
    execution.weighs = True
    await execution.begin()
    await execution.carry(outcome_of(document, seed), seed)
    return execution


@pytest.mark.long
@pytest.mark.parametrize("make", [grown, strewn])
async def test_command_is_refunded_for_the_bytes_it_stores(carrier, make):
    documents = (make(seed) for seed in range(100))
    sound = [document for document in documents if not find_structure(document).problems]
    for seed, document in enumerate(sound[:DOCUMENTS]):
        execution = await run_and_measure(carrier, document, seed)
        assert exact(execution)


async def test_iteration_mark_is_refunded_exactly(carrier):
    document = Document(
        (Vertex("start", ANY, entry_ports=("e",)), Vertex("each", ANY), Vertex("end", ANY)),
        (
            edge("start.a.p", "each.i", EdgeKind.FOR_EACH),
            edge("each.a.p", "end.i", EdgeKind.COLLECT),
            edge("each.b.p", "end.i", EdgeKind.COLLECT),
        ),
        dialect=DIALECT,
    )
    execution = Carried(carrier, await carrier.publish(document))
    execution.weighs = True
    await execution.begin()
    await execution.carry(lambda *_: ("a", {"p": ["x", "y"]}))
    read = await carrier.worker.read(execution.id, Execution)
    fields = await carrier.worker.client.dynamic_fields(read.progress.records.id)
    mark = carrier.deployment.type_of(moves.Mark)
    assert [field.key_type for field in fields].count(mark) == 2
    assert exact(execution)


async def test_refusal_reason_is_refunded_exactly(carrier):
    document = grown(3)
    vertices = tuple(
        dataclasses.replace(vertex, fqn=DEAR, attempts=2) for vertex in document.vertices
    )
    execution = await run_and_measure(carrier, dataclasses.replace(document, vertices=vertices), 3)
    assert any(payment.command == "request" for payment in execution.paid)
    fee_mist = refusal_fee_mist(carrier.settings)
    for payment in execution.paid:
        refused = round((payment.paid_mist - payment.stored_mist) / fee_mist)
        assert is_effort(payment.paid_mist - payment.stored_mist - refused * fee_mist)


def refusal_fee_mist(settings, gas_price=1_000):
    """Return the payment for failing an attempt, whose records have 1 500 bytes."""
    gas_mist = settings.fee_gas_units * gas_price + settings.fee_storage_mist
    return gas_mist + settings.fee_per_input_byte_mist * 1_500


def exact(execution):
    """Return whether each command without a closing was paid for its storage and effort."""
    paid = [payment for payment in execution.paid if payment.command != "close"]
    assert any(payment.paid_mist > payment.stored_mist for payment in paid)
    return all(
        is_effort(payment.paid_mist - payment.stored_mist - step_mist(payment)) for payment in paid
    )


def step_mist(command):
    """Return the fee of `advance`: 1 060 gas units, and 1 500 bytes of records."""
    return 1_210_000 if command.command == "advance" else 0


def is_effort(paid_mist):
    """Return whether the amount is the payment for some effort up to 2 000."""
    return 0 <= paid_mist <= 700_000 and paid_mist % 350 == 0


def edge(source, target, kind):
    return Edge(OutputPort(*source.split(".")), InputPort(*target.split(".")), kind)
