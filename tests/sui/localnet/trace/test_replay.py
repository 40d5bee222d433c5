import pytest

from nexus_tools.errors import NotFoundError, WrongStateError
from nexus_tools.sui.localnet.trace import (
    ChangeKind,
    EventTrace,
    trace_simulation,
    trace_transaction,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, RANDOM, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.type_tag import Primitive

BOB = Address.of(0xB0B)
U64 = Primitive.U64


# --- The past


def test_trace_uses_the_objects_from_before_the_transaction(world, root):
    first = world.run("increase", world.counter, (world.u64, 5))
    second = world.run("increase", world.counter, (world.u64, 7))
    world.run("delete", world.counter)
    before = [
        root(world.trace(item)).arguments[0].value["value"].content for item in (first, second)
    ]
    assert before == [0, 5]


def test_trace_uses_the_dynamic_fields_of_that_time(world, root, contents):
    key = (world.u8, 1)
    world.run("note", world.counter, key, (world.bytes, b"one"))
    first = world.run("read_note", world.counter, key)
    world.run("change_note", world.counter, key, (world.bytes, b"two"))
    second = world.run("read_note", world.counter, key)
    found = [contents(root(world.trace(item)).results) for item in (first, second)]
    assert found == [[b"one"], [b"two"]]


def test_trace_shows_the_clock_at_the_time_of_the_transaction(world, root):
    started = world.run("start", world.counter, CLOCK)
    world.node.advance_clock(1_000)
    again = world.run("start", world.counter, CLOCK)
    since = [
        root(world.trace(item)).arguments[0].after["status"]["since"].content
        for item in (started, again)
    ]
    assert since == [world.START_MS, world.START_MS + 1_000]


def test_trace_repeats_the_random_numbers(world, contents):
    executed = world.run("roll", RANDOM)
    assert executed.effects.status == Success()
    (event,) = [step for step in world.trace(executed).walk() if isinstance(step, EventTrace)]
    rolled = int.from_bytes(executed.events[0].contents, "little")
    assert event.value["by"].content == rolled


def test_system_transactions_are_traced(world, described, root):
    world.node.advance_clock(1_000)
    (prologue,) = world.node.ledger.latest.transactions
    call = root(world.trace(prologue))
    assert described(call) == "clock::consensus_commit_prologue"
    (genesis,) = world.node.ledger.checkpoint(0).transactions
    trace = world.trace(genesis)
    assert trace.commands == ()
    assert {entry.kind for entry in trace.objects} == {ChangeKind.CREATED, ChangeKind.PUBLISHED}


def test_reverted_transaction_is_not_found(world, root):
    snapshot = world.node.snapshot()
    executed = world.run("increase", world.counter, (world.u64, 5))
    world.node.revert(snapshot)
    with pytest.raises(NotFoundError) as caught:
        trace_transaction(world.node, executed.digest)
    assert caught.value.code == "transaction_not_found"
    again = world.run("increase", world.counter, (world.u64, 9))
    assert root(world.trace(again)).arguments[0].value["value"].content == 0


def test_unknown_transaction_is_not_found(world):
    with pytest.raises(NotFoundError):
        trace_transaction(world.node, Digest(bytes(32)))


def test_trace_with_different_effects_is_not_faithful(world, monkeypatch):
    executed = world.run("increase", world.counter, (world.u64, 5))
    monkeypatch.setattr("nexus_tools.sui.localnet.execution.outcome.bill.storage_cost", lambda _: 1)
    trace = trace_transaction(world.node, executed.digest)
    assert not trace.is_faithful
    assert trace.executed == executed


def test_trace_impossible_is_raised_when_the_transaction_is_refused_now(world, monkeypatch):
    executed = world.run("increase", world.counter, (world.u64, 5))
    limit = "nexus_tools.sui.localnet.execution.inputs.validity.MAX_PROGRAMMABLE_TX_COMMANDS"
    monkeypatch.setattr(limit, 1)
    with pytest.raises(WrongStateError, match="Size limit exceeded") as caught:
        trace_transaction(world.node, executed.digest)
    assert caught.value.code == "trace_failed"


def test_trace_changes_nothing(world):
    executed = world.run("increase", world.counter, (world.u64, 5))
    latest = world.node.ledger.latest
    world.trace(executed)
    assert world.node.ledger.latest == latest
    assert world.node.ledger.transaction(executed.digest) == executed


def test_trace_uses_the_epoch_of_the_transaction(world):
    executed = world.run("increase", world.counter, (world.u64, 5))
    world.node.advance_epoch()
    trace = world.trace(executed)
    assert executed.effects.epoch == 0
    assert trace.is_faithful


def test_epoch_change_is_traced(world):
    world.node.advance_epoch()
    # The latest checkpoint is the first of the new epoch. The epoch change is the last transaction
    # of the previous checkpoint.
    ended = world.node.ledger.checkpoint(world.node.epochs.get(0).last_checkpoint)
    trace = world.trace(ended.transactions[-1])
    assert trace.is_faithful
    assert list(trace.calls("sui_system::advance_epoch"))


# --- Simulations


def test_unsent_transaction_is_traced(world, described, root):
    world.node.advance_clock(1_000)
    builder = TransactionBuilder()
    world.call(builder, "start", world.counter, CLOCK)
    latest = world.node.ledger.latest
    trace = trace_simulation(world.node, world.data(builder))
    assert trace.is_faithful
    assert described(trace.calls()[0]) == "counter::start"
    assert len(trace.commands) == 1
    assert root(trace).arguments[0].after["status"]["since"].content == world.START_MS + 1_000
    assert world.node.ledger.latest == latest
