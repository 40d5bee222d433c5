import hmac

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bcs import u8, u64, vector
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import RANDOM, Address
from nexus_tools.sui.types.digest import created_object_id
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.system_transaction import (
    ConsensusCommitPrologueV4,
    RandomnessStateUpdate,
)
from nexus_tools.sui.types.transaction import TRANSACTION_KIND, SharedObject

DICE = """
module dice::dice;

use sui::event;
use sui::random::{Random, new_generator};

public struct Thrown has copy, drop { number: u64 }

entry fun throw(random: &Random, ctx: &mut TxContext) {
    let mut generator = new_generator(random, ctx);
    event::emit(Thrown { number: generator.generate_u64() });
}
"""
MANIFEST = '[package]\nname = "dice"\nedition = "2024"\n\n[addresses]\ndice = "0x0"\n'


@pytest.fixture(scope="module")
def dice_modules(move_builder):
    return move_builder.build({"Move.toml": MANIFEST, "sources/dice.move": DICE}).modules


@pytest.fixture
def dice(publish, alice, dice_modules):
    """Publish the package with the dice."""
    return publish(alice, dice_modules)


def throw(node, account, dice, *, mutable=False):
    builder = TransactionBuilder()
    random = builder.resolved(SharedObject(RANDOM, 1, mutable=mutable))
    builder.move_call(dice, "dice", "throw", [random])
    return account.transaction(node, builder)


def random_number(executed):
    assert executed.effects.status == Success()
    (event,) = executed.events
    return u64.decode(event.contents)


def updates(node):
    """Return the randomness updates of the latest checkpoint."""
    kinds = [executed.data.kind for executed in node.ledger.latest.transactions]
    return [kind for kind in kinds if isinstance(kind, RandomnessStateUpdate)]


def test_random_bytes_are_written_before_a_transaction_that_reads_them(node, alice, dice):
    alice.send(node, throw(node, alice, dice))
    update, throwing = node.ledger.latest.transactions
    assert isinstance(update.data.kind, RandomnessStateUpdate)
    assert update.effects.status == Success()
    assert update.effects.transaction_digest in throwing.effects.dependencies


def test_clock_is_set_before_the_random_bytes(node, wall_clock, alice, dice):
    wall_clock.now_ms += 1
    builder = TransactionBuilder()
    builder.resolved(SharedObject(Address.of(6), 1, mutable=False))
    random = builder.resolved(SharedObject(RANDOM, 1, mutable=False))
    builder.move_call(dice, "dice", "throw", [random])
    alice.send(node, alice.transaction(node, builder))
    kinds = [type(executed.data.kind) for executed in node.ledger.latest.transactions[:2]]
    assert kinds == [ConsensusCommitPrologueV4, RandomnessStateUpdate]


def test_generator_uses_the_bytes_of_the_update(node, alice, dice):
    """HMAC-SHA3-256 of a fresh address, then of a counter; the last 8 bytes are a number."""
    executed = alice.send(node, throw(node, alice, dice))
    (update,) = updates(node)
    fresh = created_object_id(executed.digest, 0)
    seed = hmac.digest(update.random_bytes, bytes(fresh), "sha3-256")
    block = hmac.digest(seed, (1).to_bytes(2, "little"), "sha3-256")
    assert random_number(executed) == int.from_bytes(block[-8:], "little")


def test_each_transaction_has_its_own_random_bytes(node, alice, dice):
    rounds, drawn = [], set()
    for _ in range(3):
        alice.send(node, throw(node, alice, dice))
        (update,) = updates(node)
        rounds.append((update.epoch, update.round))
        drawn.add(update.random_bytes)
        assert len(update.random_bytes) == 48
    assert rounds == [(0, 0), (0, 1), (0, 2)]
    assert len(drawn) == 3


def test_rounds_restart_at_zero_in_each_epoch(node, alice, dice):
    alice.send(node, throw(node, alice, dice))
    for _ in range(2):
        node.advance_epoch()
    rounds = []
    for _ in range(2):
        alice.send(node, throw(node, alice, dice))
        rounds += [(update.epoch, update.round) for update in updates(node)]
    assert rounds == [(2, 0), (2, 1)]


def test_checkpoint_contains_its_rounds(node, alice, bob, dice):
    alice.send(node, throw(node, alice, dice))
    alice.send(node, throw(node, alice, dice))
    assert node.ledger.latest.summary.version_specific_data == b"\0\1" + u64.encode(1)
    alice.pay(node, bob, 1)
    assert node.ledger.latest.summary.version_specific_data == b"\0\0"


def test_no_round_is_drawn_for_transactions_without_randomness(node, alice, bob):
    alice.pay(node, bob, 1)
    assert updates(node) == []


# --- Seeds


def test_same_seed_gives_the_same_bytes_on_another_network(node, wall_clock, alice, dice):
    node.seed_randomness(b"dice")
    alice.send(node, throw(node, alice, dice))
    (first,) = updates(node)
    other = Node.open(wall_clock=wall_clock)
    other.seed_randomness(b"dice")
    drawn = other._randomness.update(other.ledger, 0)
    other.close()
    assert drawn == first


def test_another_seed_gives_other_bytes(node):
    drawn = set()
    for seed in (b"one", b"two", b""):
        node.seed_randomness(seed)
        drawn.add(node._randomness.update(node.ledger, 0).random_bytes)
    assert len(drawn) == 3


def test_networks_without_a_chosen_seed_differ(node):
    other = Node.open()
    bytes_of = [item._randomness.update(item.ledger, 0).random_bytes for item in (node, other)]
    other.close()
    assert bytes_of[0] != bytes_of[1]


def test_revert_restores_the_seed(node):
    before, snapshot = node._randomness.update(node.ledger, 0), node.snapshot()
    node.seed_randomness(b"other")
    assert node._randomness.update(node.ledger, 0) != before
    node.revert(snapshot)
    assert node._randomness.update(node.ledger, 0) == before


def test_seed_survives_a_restart(tmp_path):
    first = Node.open(tmp_path)
    first.seed_randomness(b"kept")
    expected = first._randomness.update(first.ledger, 0)
    first.close()
    second = Node.open(tmp_path)
    assert second._randomness.update(second.ledger, 0) == expected
    second.close()


# --- Rules


def test_simulation_does_not_reveal_future_bytes(node, alice, dice):
    data = throw(node, alice, dice)
    simulated, _ = node.simulate(data, Mode.SIMULATE)
    assert random_number(simulated) != random_number(alice.send(node, data))


def test_user_cannot_change_the_random_bytes(node, alice, dice, refused_code):
    data = throw(node, alice, dice, mutable=True)
    assert refused_code(alice, data) == "immutable_parameter_expected_error"


def test_commands_that_could_undo_a_random_result_are_refused(node, alice, dice, refused_code):
    data = throw(node, alice, dice)
    call = data.kind.commands[0]
    data = replace(data, kind=replace(data.kind, commands=(call, call)))
    assert refused_code(alice, data) == "post_random_command_restrictions"


def test_update_contains_epoch_round_bytes_and_version():
    update = RandomnessStateUpdate(1, 2, b"\7\7", 3)
    expected = bytes([6]) + u64.encode(1) + u64.encode(2) + vector(u8).encode([7, 7])
    assert TRANSACTION_KIND.encode(update) == expected + u64.encode(3)
