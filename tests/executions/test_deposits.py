"""Whoever stores something for an execution is paid what Sui takes for it, to the MIST.

What it computes is paid besides, by the effort: 350 MIST for each unit of the first 2 000, at a gas
price of 1 000. A byte is 7 600 MIST, so that a few bytes more or less are no effort.
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
    structure_of,
)
from tests.executions.carrying import Carried
from tests.executions.conftest import ANY, DEAR
from tests.workflow.random_documents import grown, outcome_of, strewn

DOCUMENTS = 6


async def weighed(carrier, document, seed):
    """An execution that was carried to its end, each command weighed."""
    execution = Carried(carrier, await carrier.publish(document))
    execution.weighs = True
    await execution.begin()
    await execution.carry(outcome_of(document, seed), seed)
    return execution


@pytest.mark.parametrize("make", [grown, strewn])
async def test_a_command_is_paid_for_the_bytes_of_records_and_invocations_that_it_adds(
    carrier, make
):
    documents = (make(seed) for seed in range(100))
    sound = [each for each in documents if not structure_of(each).problems]
    for seed, document in enumerate(sound[:DOCUMENTS]):
        execution = await weighed(carrier, document, seed)
        assert exact(execution)


async def test_the_mark_of_an_iteration_is_paid_to_the_byte(carrier):
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
    fields = await carrier.worker.client.dynamic_fields(read.walks.records.id)
    mark = carrier.deployment.type_of(moves.Mark)
    assert [each.key_type for each in fields].count(mark) == 2
    assert exact(execution)


async def test_why_a_run_was_refused_is_paid_to_the_byte(carrier):
    document = grown(3)
    vertices = tuple(dataclasses.replace(each, fqn=DEAR, attempts=2) for each in document.vertices)
    execution = await weighed(carrier, dataclasses.replace(document, vertices=vertices), 3)
    assert any(each.command == "request" for each in execution.paid)
    fee_mist = refusal_fee_mist(carrier.settings)
    for each in execution.paid:
        refused = round((each.paid_mist - each.stored_mist) / fee_mist)
        assert is_effort(each.paid_mist - each.stored_mist - refused * fee_mist)


def refusal_fee_mist(settings, gas_price=1_000):
    """What failing an attempt pays, whose records are 1 500 bytes."""
    gas_mist = settings.fee_gas_units * gas_price + settings.fee_storage_mist
    return gas_mist + settings.fee_per_input_byte_mist * 1_500


def exact(execution):
    """Whether each command that closes nothing was paid what it stored, and its effort."""
    paid = [each for each in execution.paid if each.command != "close"]
    assert any(each.paid_mist > each.stored_mist for each in paid)
    return all(is_effort(each.paid_mist - each.stored_mist - step_mist(each)) for each in paid)


def step_mist(command):
    """The fee of `advance`: 1 050 gas units, and the 1 500 bytes of records."""
    return 1_200_000 if command.command == "advance" else 0


def is_effort(paid_mist):
    """Whether so much is paid for some effort, up to 2 000."""
    return 0 <= paid_mist <= 700_000 and paid_mist % 350 == 0


def edge(source, target, kind):
    return Edge(OutputPort(*source.split(".")), InputPort(*target.split(".")), kind)
