"""Budgets of closing transactions against the localnet's charges for the most expensive ones."""

from dataclasses import replace

import pytest

from nexus_tools.leader.closing.closing_batch import ClosingBatch
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.tool import MAX_PORTS, Answer, Failure, FailureReason, OutcomeSignature, SigningKey
from nexus_tools.tool.signing.signed_outcome import outcome_message

pytestmark = pytest.mark.anyio


def ports(count, *, name=5, value=3):
    """Return ports with names and values of the given sizes in bytes."""
    return {f"p{n:0>{name - 1}}": "v" * (value - 2) for n in range(count)}


# Batches that reach one limit, or several at once: the number of invocations, the bytes of inputs
# of each, the ports of each answer, and whether it is signed.
BATCHES = {
    "small": (32, 0, ports(1), False),
    "signed": (32, 0, ports(1), True),
    "failures": (32, 0, None, False),
    "many ports": (1, 0, ports(MAX_PORTS, name=100), True),
    "a long answer": (1, 65_000, {"text": "x" * 65_000}, True),
    "large inputs": (2, 65_000, ports(1), False),
    "all at once": (31, 4_000, ports(5, name=20, value=300), True),
    "a few large ones": (8, 16_000, ports(12, name=40, value=500), True),
    "failures with large inputs": (2, 65_000, None, False),
}


@pytest.mark.parametrize("batch", BATCHES)
async def test_budget_covers_the_most_expensive_transactions(
    world, add_definition, bench_of, batch
):
    count, input_bytes, answer, is_signed = BATCHES[batch]
    key = SigningKey.new()
    terms = {"keys": (key.public_key,), "requires_signed_outcome": True} if is_signed else {}
    tool = await world.register_tool(add_definition(), **terms)
    identity = await world.new_leader()
    inputs = {"text": "x" * input_bytes}
    ids = []
    for _ in range(count):  # each with the largest inputs that fit into a transaction
        ids += await world.request(tool, inputs, max_outcome_bytes=65_536)
    async with bench_of(identity, run=False, enough_mist=10**10) as bench:
        closings = []
        for one in ids:
            outcome = Failure(FailureReason.TIMED_OUT, "x" * 200)
            if answer is not None:
                outcome = Answer("ok", answer)
                if is_signed:
                    message = outcome_message(bytes(one), inputs, outcome)
                    signature = OutcomeSignature(key.public_key, key.private.sign(message))
                    outcome = replace(outcome, signature=signature)
            closings.append(await bench.closing(one, outcome))
        for closing in closings:
            bench.closer.queue.put(closing)
        # One transaction closes all of them.
        assert len(await bench.closer.queue.take(count)) == count
        batch = ClosingBatch(world.deployment, bench.workers.leader.argument, closings)
        budget_mist = batch.budget_mist(bench.workers.epoch.gas_price)
        async with bench.workers.select(budget_mist) as worker:
            signed = await bench.workers.sign(worker, batch.build(), budget_mist)
            executed = await bench.closer._sender.send(signed)
    assert isinstance(executed.effects.status, Success)
    # Storage is exact to the byte; the budget allows twice the computation.
    stored = executed.cost.net - executed.cost.computation_cost
    assert stored + 2 * executed.cost.computation_cost <= budget_mist
