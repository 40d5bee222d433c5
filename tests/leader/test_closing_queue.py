import asyncio
from dataclasses import replace

import pytest

from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.closing import Closing
from nexus_tools.leader.closing_queue import ClosingQueue
from nexus_tools.leader.journal_entry import Ending
from nexus_tools.sui.address import Address
from nexus_tools.tool import Outcome

TIMEOUT_S = 20


@pytest.fixture
async def queue(settings):
    return ClosingQueue(settings.model_copy(update={"linger_ms": 0}))


def closing_of(number, *, size=10, ports=1):
    assignment = Assignment(
        Address.of(number), Address.of(1), "a.b.c@1", 0, 0, 1_000, 2_000, 500, 1_000
    )
    return Closing(assignment, Outcome("ok", {f"p{n}": n for n in range(ports)}), size, 1)


def numbers(batch):
    return [int.from_bytes(one.assignment.invocation, "big") for one in batch]


async def test_a_batch_is_what_waits_in_its_order(queue):
    for number in (3, 1, 2):
        queue.put(closing_of(number))
    assert numbers(await queue.take(4)) == [3, 1, 2]
    assert len(queue) == 0


async def test_a_batch_has_at_most_the_number_of_the_settings(queue):
    for number in range(1, 7):
        queue.put(closing_of(number))
    assert numbers(await queue.take(4)) == [1, 2, 3, 4]
    assert numbers(await queue.take(4)) == [5, 6]


async def test_large_outcomes_go_into_transactions_of_their_own(queue):
    for number, size in ((1, 60_000), (2, 60_000), (3, 10), (4, 90_000)):
        queue.put(closing_of(number, size=size))
    assert [numbers(await queue.take(4)) for _ in range(3)] == [[1], [2, 3], [4]]


@pytest.mark.parametrize(("ports", "together"), [(1, 100), (2, 100), (8, 16), (16, 5), (48, 1)])
async def test_outcomes_of_many_ports_are_not_sent_together(queue, ports, together):
    # 16 outcomes of 8 ports cost 0.19 million MIST each, 32 of them 1.06 million each.
    for number in range(1, 101):
        queue.put(closing_of(number, ports=ports))
    assert len(await queue.take(100)) == together


async def test_the_first_waits_shortly_for_others(settings):
    queue = ClosingQueue(settings.model_copy(update={"linger_ms": 10_000}))
    async with asyncio.timeout(TIMEOUT_S):
        taking = asyncio.create_task(queue.take(2))
        queue.put(closing_of(1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not taking.done()
        queue.put(closing_of(2))
        assert numbers(await taking) == [1, 2]


async def test_what_is_withdrawn_is_not_taken_and_has_ended(queue):
    first, second = closing_of(1), closing_of(2)
    queue.put(first)
    queue.put(second)
    assert queue.withdraw(Address.of(1), Ending.ELSEWHERE)
    assert first.ended.result() is Ending.ELSEWHERE
    assert numbers(await queue.take(4)) == [2]


async def test_what_is_in_a_transaction_is_not_withdrawn(queue):
    closing = closing_of(1)
    queue.put(closing)
    await queue.take(4)
    assert not queue.withdraw(Address.of(1), Ending.ELSEWHERE)
    assert queue.is_under_way(Address.of(1))
    closing.end(Ending.SETTLED)
    await asyncio.sleep(0)
    assert not queue.is_under_way(Address.of(1))


async def test_what_has_ended_does_not_come_back(queue):
    closing = closing_of(1)
    closing.end(Ending.SETTLED)
    queue.put(closing)
    assert len(queue) == 0


async def test_the_estimate_of_a_transaction_is_never_too_small():
    from nexus_tools.leader.settlement import Settlement
    from nexus_tools.registry.objects import Ports
    from nexus_tools.registry.package import Deployment
    from nexus_tools.sui.digest import Digest
    from nexus_tools.sui.expiration import NoExpiration
    from nexus_tools.sui.object import ObjectReference
    from nexus_tools.sui.transaction import GasData, OwnedObject, SharedObject, TransactionData

    deployment = Deployment(*[Address.of(n) for n in range(1, 5)], None, None, "chain")
    cap = ObjectReference(Address.of(9), 1, Digest(b"\1" * 32))
    shapes = [
        {"p": "x"},
        {f"port_{n}": n for n in range(32)},
        {"text": "x" * 65_000},
        {f"long_{n}": "y" * 2_000 for n in range(20)},
    ]
    for number, ports in enumerate(shapes, 100):
        outcome = Outcome("ok", ports)
        size = len("ok") + Ports.of(ports).size()
        closing = replace(closing_of(number, size=size), answer=outcome)
        leaders = SharedObject(Address.of(4), 1, mutable=False)
        kind = Settlement(deployment, leaders, [closing]).build(OwnedObject(cap))
        gas = GasData((cap,), Address.of(5), 1_000, 10**9)
        encoded = TransactionData(kind, Address.of(5), gas, NoExpiration()).encode()
        without = 400  # sender, gas, cap, registry and clock: once for all
        assert len(encoded) - without <= closing.size
        assert len(kind.commands) <= closing.commands
        assert len(encoded) < 128 * 1024
