import asyncio
from dataclasses import replace

import pytest

from nexus_tools.contracts import Deployment, ports_of
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closing_batch import Closing, ClosingBatch
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import ValidDuring
from nexus_tools.sui.types.transaction import (
    GasData,
    MoveCall,
    OwnedObject,
    SharedObject,
    TransactionData,
)
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature

TIMEOUT_S = 20


@pytest.fixture
async def queue(config):
    return ClosingQueue(config)


FAILURE = Failure(FailureReason.HTTP_ERROR, "the tool responded with 500")
SIGNATURE = OutcomeSignature(bytes(32), bytes(64))


def closing_of(number, *, size=10, ports=1, inputs=10, signature=None):
    assignment = Assignment(
        Address.of(number), Address.of(1), "a.b.c@1", 0, 0, 1_000, 2_000, 500, 1_000
    )
    answer = Answer("ok", {f"p{n}": n for n in range(ports)}, signature)
    invocation = SharedObject(Address.of(number), 1, mutable=True)
    return Closing(assignment, answer, size, inputs, invocation)


def numbers(batch):
    return [int.from_bytes(one.assignment.invocation, "big") for one in batch]


async def test_batch_contains_waiting_closings_in_order(queue):
    for number in (3, 1, 2):
        queue.put(closing_of(number))
    assert numbers(await queue.take(4)) == [3, 1, 2]
    assert len(queue) == 0


async def test_batch_has_at_most_the_configured_size(queue):
    for number in range(1, 7):
        queue.put(closing_of(number))
    assert numbers(await queue.take(4)) == [1, 2, 3, 4]
    assert numbers(await queue.take(4)) == [5, 6]


async def test_large_outcomes_get_their_own_transactions(queue):
    for number, size in ((1, 60_000), (2, 60_000), (3, 10), (4, 90_000)):
        queue.put(closing_of(number, size=size))
    assert [numbers(await queue.take(4)) for _ in range(3)] == [[1], [2, 3], [4]]


@pytest.mark.parametrize(("ports", "together"), [(1, 100), (2, 100), (8, 16), (16, 5), (32, 1)])
async def test_outcomes_with_many_ports_are_not_batched(queue, ports, together):
    # 16 outcomes of 8 ports cost 0.19 million MIST each, 32 of them 1.06 million each.
    for number in range(1, 101):
        queue.put(closing_of(number, ports=ports))
    assert len(await queue.take(100)) == together


async def test_batch_has_at_most_32_signed_answers(queue):
    for number in range(1, 61):
        queue.put(closing_of(number, signature=SIGNATURE if number % 4 else None))
    # Three of four are signed: the 43rd closing would be the 33rd signed one.
    assert len(await queue.take(60)) == 42


@pytest.mark.parametrize(("inputs", "together"), [(65_536, 2), (4_096, 32), (200_000, 1)])
async def test_large_inputs_are_not_batched(queue, inputs, together):
    # 32 invocations with inputs of 64 KiB would cost 10.4 million MIST each, one costs 6.9 million.
    for number in range(1, 101):
        queue.put(closing_of(number, inputs=inputs))
    assert len(await queue.take(100)) == together


async def test_costly_closing_gets_its_own_batch(queue):
    """The closing of an attempt with a large outcome, or with a failure that pays nothing."""
    large = replace(closing_of(2, size=5_000), execution=Address.of(9))
    unpaid = replace(closing_of(4), execution=Address.of(9), outcome=FAILURE)
    usual = replace(closing_of(5), execution=Address.of(9))
    for closing in (closing_of(1), large, closing_of(3, size=5_000), unpaid, usual):
        queue.put(closing)
    assert [numbers(await queue.take(10)) for _ in range(5)] == [[1], [2], [3], [4], [5]]


async def test_take_waits_for_a_full_batch_with_patience(queue):
    async with asyncio.timeout(TIMEOUT_S):
        taking = asyncio.create_task(queue.take(2, lambda: 2 * TIMEOUT_S))
        await asyncio.sleep(0)
        queue.put(closing_of(1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not taking.done()
        queue.put(closing_of(2))
        assert numbers(await taking) == [1, 2]


async def test_take_does_not_wait_without_patience(queue):
    async with asyncio.timeout(TIMEOUT_S):
        taking = asyncio.create_task(queue.take(2))
        await asyncio.sleep(0)
        queue.put(closing_of(1))
        assert numbers(await taking) == [1]


async def test_withdrawn_closing_is_closed_and_not_taken(queue):
    first, second = closing_of(1), closing_of(2)
    queue.put(first)
    queue.put(second)
    assert queue.withdraw(Address.of(1), ClosureKind.ELSEWHERE)
    assert first.closed.result() is ClosureKind.ELSEWHERE
    assert numbers(await queue.take(4)) == [2]


async def test_closing_in_a_transaction_cannot_be_withdrawn(queue):
    closing = closing_of(1)
    queue.put(closing)
    await queue.take(4)
    assert not queue.withdraw(Address.of(1), ClosureKind.ELSEWHERE)
    assert queue.is_under_way(Address.of(1))
    closing.close(ClosureKind.SETTLED)
    await asyncio.sleep(0)
    assert not queue.is_under_way(Address.of(1))


async def test_closed_closing_is_not_queued_again(queue):
    closing = closing_of(1)
    closing.close(ClosureKind.SETTLED)
    queue.put(closing)
    assert len(queue) == 0


@pytest.mark.parametrize("signature", [None, SIGNATURE])
async def test_size_estimate_is_never_too_small(signature):
    shapes = [
        {"p": "x"},
        {f"port_{n}": n for n in range(32)},
        {"text": "x" * 65_000},
        {f"long_{n}": "y" * 2_000 for n in range(20)},
    ]
    for number, ports in enumerate(shapes, 100):
        answer = Answer("ok", ports, signature)
        closing = replace(closing_of(number, size=2 + ports_of(ports).size()), outcome=answer)
        kind = ClosingBatch(DEPLOYMENT, LEADER, [closing]).build()
        gas = GasData((), Address.of(5), 1_000, 10**9)
        validity = ValidDuring(1, 2, None, None, Digest(bytes(32)), 2**32 - 1)
        encoded = TransactionData(kind, Address.of(5), gas, validity).encode()
        without = 400  # sender, gas, validity, leader and clock occur once
        assert len(encoded) - without <= closing.size
        assert len(kind.commands) <= closing.commands
        assert len(encoded) < 128 * 1024


# --- The transaction

PACKAGE, LEADER_ID = Address.of(0x10), Address.of(0x20)
DEPLOYMENT = Deployment(PACKAGE, PACKAGE, *map(Address.of, (0x13, 0x14, 0x15)), "chain")
LEADER = SharedObject(LEADER_ID, 7, mutable=False)


def closing_with(number, outcome):
    assignment = Assignment(Address.of(number), Address.of(1), "a.b.c@1", 0, 0, 1, 2, 3, 4)
    invocation = SharedObject(Address.of(number), number, mutable=True)
    return Closing(assignment, outcome, 10, 10, invocation)


@pytest.fixture
async def batch():
    return ClosingBatch(
        DEPLOYMENT,
        LEADER,
        [
            closing_with(0xA1, Answer("ok", {"b": 1, "a": [2]})),
            closing_with(0xA2, Failure(FailureReason.TIMED_OUT, "late")),
            closing_with(0xA3, Answer("none", {}, SIGNATURE)),
        ],
    )


def names(kind):
    return [
        f"{command.module}::{command.function}" if isinstance(command, MoveCall) else ""
        for command in kind.commands
    ]


async def test_batch_closes_each_outcome_as_its_kind_in_order(batch):
    modules = ("invocation", "signed_outcome")
    closes = [name for name in names(batch.build()) if name.startswith(modules)]
    expected = ["invocation::settle", "invocation::fail", "signed_outcome::settle"]
    assert closes == expected


async def test_invocations_are_mutable_inputs_and_the_leader_is_immutable(batch):
    inputs = batch.build().inputs
    shared = {value.object_id: value for value in inputs if isinstance(value, SharedObject)}
    assert shared[Address.of(0xA2)] == SharedObject(Address.of(0xA2), 0xA2, mutable=True)
    assert shared[LEADER_ID] == LEADER
    assert shared[CLOCK].mutable is False
    assert not [value for value in inputs if isinstance(value, OwnedObject)]


async def test_each_command_is_traced_to_its_invocation(batch):
    kind = batch.build()
    traced = [batch.closing_of(place) for place in range(len(kind.commands))]
    order = [batch.closings.index(closing) for closing in traced]
    assert order == sorted(order)
    for place, name in enumerate(names(kind)):
        if name == "invocation::fail":
            assert traced[place] is batch.closings[1]


async def test_failure_without_a_command_has_no_closing(batch):
    batch.build()
    assert batch.closing_of(None) is None
