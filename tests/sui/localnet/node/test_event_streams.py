"""Authenticated events on a whole node: the chain commits to them in the order of their stream."""

import hashlib

import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT
from nexus_tools.sui.types.address_balance import accumulator_id
from nexus_tools.sui.types.effects import (
    Absent,
    AccumulatorEvents,
    AccumulatorOperation,
    AccumulatorWrite,
)
from nexus_tools.sui.types.event import EVENT, EVENT_STREAM_HEAD
from nexus_tools.sui.types.execution_status import ExecutionFailure, Success
from nexus_tools.sui.types.object import ObjectOwner

NEWS = """
module news::news;

use sui::event;

public struct Story has copy, drop { number: u64 }

public fun tell(number: u64) { event::emit(Story { number }) }

public fun assure(number: u64) { event::emit_authenticated(Story { number }) }

public fun regret(number: u64) { assure(number); abort number }
"""
MANIFEST = '[package]\nname = "News"\nedition = "2024"\n\n[addresses]\nnews = "0x0"\n'

# The offset in the head's field, after its ID and the stream.
HEAD = 64


@pytest.fixture(scope="module")
def modules(move_builder):
    return move_builder.build({"Move.toml": MANIFEST, "sources/news.move": NEWS}).modules


@pytest.fixture
def send(node, alice, publish, modules):
    """Return a function that calls module functions, each with a number, in one transaction."""
    package = publish(alice, modules)

    def run(*calls):
        builder = TransactionBuilder()
        for function, number in calls:
            builder.move_call(package, "news", function, [builder.u64(number)])
        return package, alice.send(node, alice.transaction(node, builder))

    return run


def h(*parts):
    return hashlib.blake2b(b"".join(parts), digest_size=32).digest()


def u64(number):
    return number.to_bytes(8, "little")


def leaf(executed, index):
    """Return a stream's commitment to an event: its position and its digest."""
    digest = h(EVENT.encode(executed.events[index]))
    place = u64(executed.checkpoint) + u64(0) + u64(index)
    return h(b"\0", place, b"\x20", digest)


def stream_head(node, stream):
    """Return the numbers of the mountain range, the last checkpoint and the count of a stream."""
    value = node.ledger.get(accumulator_id(stream, EVENT_STREAM_HEAD))
    assert value.owner == ObjectOwner(ACCUMULATOR_ROOT)
    data = value.data.contents[HEAD:]
    peaks = [data[1 + 32 * place :][:32] for place in range(data[0])]
    last, count = data[1 + 32 * len(peaks) :][:8], data[-8:]
    return peaks, int.from_bytes(last, "little"), int.from_bytes(count, "little")


def test_effects_contain_the_authenticated_events_of_a_stream(send):
    package, executed = send(("tell", 1), ("assure", 2), ("assure", 3))
    assert executed.effects.status == Success()
    assert len(executed.events) == 3
    changes = dict(executed.effects.changed_objects)
    change = changes[accumulator_id(package, EVENT_STREAM_HEAD)]
    digests = tuple((index, h(EVENT.encode(executed.events[index]))) for index in (1, 2))
    assert change.input == Absent()
    assert change.output == AccumulatorWrite(
        package, EVENT_STREAM_HEAD, AccumulatorOperation.MERGE, AccumulatorEvents(digests)
    )


def test_checkpoint_settles_the_root_of_its_events_into_the_stream_head(node, send):
    package, first = send(("assure", 7))
    assert stream_head(node, package) == ([leaf(first, 0)], first.checkpoint, 1)
    _, second = send(("assure", 8), ("assure", 9))
    root = h(b"\1", leaf(second, 0), leaf(second, 1))
    # A mountain range of two roots is one peak of the second level.
    peaks = [bytes(32), h(leaf(first, 0), root)]
    assert stream_head(node, package) == (peaks, second.checkpoint, 3)


def test_checkpoint_with_authenticated_events_ends_with_settlement_and_barrier(node, send):
    package, executed = send(("assure", 7))
    _, settlement, barrier = node.ledger.latest.transactions
    assert [call.function for call in settlement.data.kind.commands] == [
        "settlement_prologue",
        "settle_events",
    ]
    assert [object_id for object_id, _ in barrier.effects.changed_objects] == [ACCUMULATOR_ROOT]
    values = [value.value for value in settlement.data.kind.inputs[1:]]
    assert bytes(package) in values
    assert leaf(executed, 0) in values


def test_other_events_are_not_in_a_stream(node, send):
    package, executed = send(("tell", 7))
    assert len(executed.events) == 1
    assert len(node.ledger.latest.transactions) == 1
    assert node.ledger.get(accumulator_id(package, EVENT_STREAM_HEAD)) is None


def test_events_of_a_failed_transaction_are_not_in_a_stream(node, send):
    package, executed = send(("assure", 7), ("regret", 8))
    assert isinstance(executed.effects.status, ExecutionFailure)
    assert node.ledger.get(accumulator_id(package, EVENT_STREAM_HEAD)) is None
