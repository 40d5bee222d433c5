import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.system_transaction import ConsensusCommitPrologueV4

DAY_MS = 86_400_000


def clock_time_ms(node):
    """Return the time of the object 0x6."""
    return int.from_bytes(node.ledger.get(CLOCK).data.contents[32:], "little")


def reading(node, account):
    builder = TransactionBuilder()
    builder.move_call(Address.of(2), "clock", "timestamp_ms", [builder.object(CLOCK)])
    return account.transaction(node, builder)


def test_new_network_starts_at_the_machines_time(node, wall_clock):
    assert node.now_ms() == clock_time_ms(node) == wall_clock.now_ms
    assert node.ledger.latest.summary.timestamp_ms == wall_clock.now_ms


def test_clock_is_set_in_the_checkpoint_of_a_transaction_that_reads_it(node, alice, wall_clock):
    wall_clock.now_ms += 5000
    executed = alice.send(node, reading(node, alice))
    prologue, transaction = node.ledger.latest.transactions
    assert transaction == executed
    assert executed.index_in_checkpoint == 1
    assert isinstance(prologue.data.kind, ConsensusCommitPrologueV4)
    assert prologue.data.kind.commit_timestamp_ms == clock_time_ms(node) == wall_clock.now_ms
    assert prologue.effects.status == Success()
    assert executed.timestamp_ms == wall_clock.now_ms


def test_clock_is_not_set_again_while_it_is_current(node, alice, wall_clock):
    wall_clock.now_ms += 5000
    alice.send(node, reading(node, alice))
    alice.send(node, reading(node, alice))
    assert len(node.ledger.latest.transactions) == 1


def test_transaction_without_the_clock_leaves_it_unchanged(node, alice, bob, wall_clock):
    before = clock_time_ms(node)
    wall_clock.now_ms += 5000
    alice.pay(node, bob, 1)
    assert clock_time_ms(node) == before
    assert node.ledger.latest.summary.timestamp_ms == wall_clock.now_ms


def test_clock_runs_for_clients_that_catch_up(node, alice, bob, wall_clock):
    for _ in range(5):
        wall_clock.now_ms += 600
        alice.pay(node, bob, 1)
        node.catch_up()
        assert wall_clock.now_ms - clock_time_ms(node) < 1000


def test_clock_runs_for_subscribers_during_a_fast_series_of_transactions(
    node, alice, bob, wall_clock
):
    shown_in = []
    unsubscribe = node.subscribe(lambda _: shown_in.append(clock_time_ms(node)))
    for _ in range(10):
        wall_clock.now_ms += 300
        alice.pay(node, bob, 1)
        assert wall_clock.now_ms - shown_in[-1] < 1000
    unsubscribe()
    wall_clock.now_ms += 5000
    alice.pay(node, bob, 1)
    assert clock_time_ms(node) == shown_in[-1]


def test_clock_object_keeps_its_initial_version(node, wall_clock):
    versions = []
    for _ in range(3):
        wall_clock.now_ms += 1000
        node.catch_up()
        clock = node.ledger.get(CLOCK)
        assert clock.owner.initial_version == 1
        versions.append(clock.version)
    assert versions == [2, 3, 4]


def test_advance_takes_effect_immediately_and_stays(node, wall_clock):
    summary = node.advance_clock(3 * DAY_MS)
    assert (
        summary.timestamp_ms
        == clock_time_ms(node)
        == node.now_ms()
        == wall_clock.now_ms + 3 * DAY_MS
    )
    wall_clock.now_ms += 10
    assert node.now_ms() == wall_clock.now_ms + 3 * DAY_MS


def test_advances_add_up(node, wall_clock):
    node.advance_clock(1000)
    node.advance_clock(500)
    assert node.now_ms() == wall_clock.now_ms + 1500


def test_advance_by_zero_makes_a_checkpoint(node):
    number = node.ledger.latest.number
    assert node.advance_clock(0).sequence_number == number + 1
    assert node.advance_clock(0).sequence_number == number + 2


@pytest.mark.parametrize("milliseconds", [-1, 10**15, 2**63, 2**64])
def test_advance_is_refused_backward_and_beyond_year_9999(node, milliseconds):
    latest = node.ledger.latest
    with pytest.raises(ValidationError) as caught:
        node.advance_clock(milliseconds)
    assert caught.value.code == "clock_advance_invalid"
    assert node.ledger.latest == latest


def test_time_stands_still_while_the_machines_clock_is_behind(node, alice, bob, wall_clock):
    before = node.now_ms()
    wall_clock.now_ms -= DAY_MS
    assert node.now_ms() == before
    alice.pay(node, bob, 1)
    assert node.ledger.latest.summary.timestamp_ms == before


def test_revert_undoes_an_advance(node, wall_clock):
    node.advance_clock(1000)
    snapshot = node.snapshot()
    node.advance_clock(30 * DAY_MS)
    node.revert(snapshot)
    assert node.now_ms() == clock_time_ms(node) == wall_clock.now_ms + 1000
    wall_clock.now_ms += 7
    assert node.now_ms() == wall_clock.now_ms + 1000


def test_clock_makes_no_checkpoints_without_clients(node):
    number = node.ledger.latest.number
    node.catch_up()
    assert node.ledger.latest.number == number


def test_catch_up_sets_the_clock_after_one_second(node, wall_clock):
    number = node.ledger.latest.number
    wall_clock.now_ms += 999
    node.catch_up()
    assert node.ledger.latest.number == number
    wall_clock.now_ms += 1
    node.catch_up()
    assert node.ledger.latest.number == number + 1
    assert clock_time_ms(node) == wall_clock.now_ms


def test_advance_survives_a_restart(tmp_path, wall_clock):
    with_node(tmp_path, wall_clock, lambda node: node.advance_clock(30 * DAY_MS))
    wall_clock.now_ms += 5
    expected = wall_clock.now_ms + 30 * DAY_MS
    assert with_node(tmp_path, wall_clock, Node.now_ms) == expected


def test_time_continues_from_the_chain_when_the_machines_clock_was_set_back(tmp_path, wall_clock):
    end = with_node(tmp_path, wall_clock, lambda node: node.advance_clock(1000).timestamp_ms)
    wall_clock.now_ms -= DAY_MS

    def look_twice(node):
        first = node.now_ms()
        wall_clock.now_ms += 20
        return first, node.now_ms()

    assert with_node(tmp_path, wall_clock, look_twice) == (end, end + 20)


def with_node(directory, wall_clock, use):
    node = Node.open(directory, wall_clock=wall_clock)
    try:
        return use(node)
    finally:
        node.close()


@pytest.fixture(autouse=True)
def restore_clock(wall_clock):
    """Restore the shared clock after each test."""
    before = wall_clock.now_ms
    yield
    wall_clock.now_ms = before
