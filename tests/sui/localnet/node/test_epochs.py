from itertools import pairwise

import pytest
from msgspec.structs import replace

from nexus_tools.errors import NexusError
from nexus_tools.sui.localnet.execution import Mode
from nexus_tools.sui.localnet.genesis import VALIDATORS
from nexus_tools.sui.localnet.node import Node, committee_of
from nexus_tools.sui.localnet.node.epochs import read_system_state
from nexus_tools.sui.localnet.vm import MoveAbort
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, SUI_FRAMEWORK, SUI_SYSTEM, SYSTEM_STATE
from nexus_tools.sui.types.checkpoint import EndOfEpochData
from nexus_tools.sui.types.effects import GasCostSummary
from nexus_tools.sui.types.execution_status import MoveLocation, Success
from nexus_tools.sui.types.expiration import EpochExpiration, ValidDuring
from nexus_tools.sui.types.system_transaction import (
    ChangeEpoch,
    ConsensusCommitPrologueV4,
    EndOfEpoch,
)
from nexus_tools.sui.types.transaction import SharedObject
from nexus_tools.sui.types.type_tag import GAS_COIN

MIST = 1_000_000_000
DAY_MS = 86_400_000
NOTHING = GasCostSummary(0, 0, 0, 0)
SUPPLY_MIST = 10**19


def clock_ms(node):
    return int.from_bytes(node.ledger.get(CLOCK).data.contents[32:], "little")


def last_of(node, epoch):
    """Return the checkpoint that ended an epoch."""
    return node.ledger.checkpoint(node.epochs.get(epoch).last_checkpoint)


# --- The chain


def test_last_checkpoint_of_an_epoch_names_the_next_committee(node):
    assert node.advance_epoch() == 1
    (validator,) = VALIDATORS
    last = last_of(node, 0)
    committee = ((validator.protocol_public_key, 10_000),)
    assert last.summary.epoch == 0
    assert last.summary.end_of_epoch_data == EndOfEpochData(committee, 105, ())
    assert isinstance(last.transactions[-1].data.kind, EndOfEpoch)
    assert last.transactions[-1].effects.status == Success()


def test_first_checkpoint_of_an_epoch_sets_the_clock(node):
    node.advance_epoch()
    first, last = node.ledger.latest, last_of(node, 0)
    assert first.number == last.number + 1
    assert first.summary.epoch == 1
    assert first.summary.previous_digest == last.digest
    assert first.summary.end_of_epoch_data is None
    (prologue,) = first.transactions
    assert isinstance(prologue.data.kind, ConsensusCommitPrologueV4)
    assert prologue.data.kind.epoch == prologue.effects.epoch == 1


def test_epoch_change_belongs_to_the_old_epoch_and_is_free(node):
    node.advance_epoch()
    effects = last_of(node, 0).transactions[-1].effects
    assert effects.epoch == 0
    assert effects.gas_used == NOTHING


def test_epoch_change_contains_the_costs_of_the_epoch(node, alice, bob):
    funded = node.ledger.latest.transactions[-1].effects.gas_used
    paid = alice.pay(node, bob, 5).effects.gas_used
    node.advance_epoch()
    (change,) = last_of(node, 0).transactions[-1].data.kind.steps
    assert change == ChangeEpoch(
        1,
        105,
        funded.storage_cost + paid.storage_cost,
        funded.computation_cost + paid.computation_cost,
        funded.storage_rebate + paid.storage_rebate,
        funded.non_refundable_storage_fee + paid.non_refundable_storage_fee,
        last_of(node, 0).summary.timestamp_ms,
        (),
    )


def test_costs_restart_at_zero_in_each_epoch(node, alice, bob):
    assert node.ledger.latest.summary.epoch_rolling_gas_cost_summary.computation_cost > 0
    node.advance_epoch()
    assert node.ledger.latest.summary.epoch_rolling_gas_cost_summary == NOTHING
    paid = alice.pay(node, bob, 5).effects.gas_used
    assert node.ledger.latest.summary.epoch_rolling_gas_cost_summary == paid


def test_epoch_starts_when_the_previous_one_ended(node, wall_clock):
    start_ms = wall_clock.now_ms
    wall_clock.now_ms += 3 * DAY_MS
    node.advance_epoch()
    epoch, before = node.epochs.get(1), node.epochs.get(0)
    assert (before.start_ms, before.end_ms) == (start_ms, start_ms + 3 * DAY_MS)
    assert (epoch.start_ms, epoch.end_ms) == (start_ms + 3 * DAY_MS, None)
    assert clock_ms(node) == start_ms + 3 * DAY_MS


def test_epochs_follow_without_a_gap(node, alice, bob):
    for _ in range(3):
        node.advance_epoch()
        alice.pay(node, bob, 1)
    epochs = [node.epochs.get(number) for number in range(4)]
    assert epochs[0].first_checkpoint == 0
    for earlier, later in pairwise(epochs):
        assert later.first_checkpoint == earlier.last_checkpoint + 1
        assert later.start_ms == earlier.end_ms
        assert [earlier.state.epoch, later.state.epoch] == [earlier.number, later.number]
    assert epochs[-1].last_checkpoint is None
    assert node.epochs.get(4) is None


def test_subscribers_receive_both_checkpoints_of_an_epoch_change(node):
    seen = []
    unsubscribe = node.subscribe(lambda checkpoint: seen.append(checkpoint.summary.epoch))
    node.advance_epoch()
    unsubscribe()
    assert seen == [0, 1]


# --- Epochs in transactions


def test_transactions_contain_their_epoch(node, alice, bob):
    assert alice.pay(node, bob, 1).effects.epoch == 0
    node.advance_epoch()
    assert alice.pay(node, bob, 1).effects.epoch == 1


def test_move_code_reads_the_epoch_and_its_start(node, wall_clock, alice):
    wall_clock.now_ms += 12_345
    node.advance_epoch()
    wall_clock.now_ms += 7
    builder = TransactionBuilder()
    for name in ("epoch", "epoch_timestamp_ms"):
        builder.move_call(SUI_FRAMEWORK, "tx_context", name)
    _, result = node.simulate(alice.transaction(node, builder), Mode.SIMULATE)
    values = [entry.return_values[0][1] for entry in result.command_results]
    started_ms = node.epochs.get(1).start_ms
    assert started_ms == wall_clock.now_ms - 7
    assert [int.from_bytes(value, "little") for value in values] == [1, started_ms]


def test_transaction_expires_after_its_last_epoch(node, alice, bob, refused_code):
    data = replace(alice.payment(node, bob, 5), expiration=EpochExpiration(1))
    node.advance_epoch()
    assert alice.send(node, data).effects.status == Success()
    late = replace(alice.payment(node, bob, 5), expiration=EpochExpiration(1))
    node.advance_epoch()
    assert refused_code(alice, late) == "transaction_expired"


def test_transaction_is_refused_before_its_first_epoch(node, alice, bob, refused_code):
    during = ValidDuring(1, 2, None, None, node.chain_id, 0)
    data = replace(alice.payment(node, bob, 5), expiration=during)
    assert refused_code(alice, data) == "transaction_expired"
    node.advance_epoch()
    assert alice.send(node, data).effects.status == Success()


# --- Restarts and going back


def test_restarted_node_continues_in_its_epoch(tmp_path, wall_clock):
    first = Node.open(tmp_path, wall_clock=wall_clock)
    first.advance_epoch()
    wall_clock.now_ms += 5
    first.advance_epoch()
    environment, epochs = first.environment, [first.epochs.get(number) for number in range(4)]
    first.close()
    second = Node.open(tmp_path, wall_clock=wall_clock)
    assert second.environment == environment
    assert [second.epochs.get(number) for number in range(4)] == epochs
    assert second.advance_epoch() == 3
    second.close()


def test_revert_restores_the_epoch(node, alice, bob):
    node.advance_epoch()
    environment, snapshot = node.environment, node.snapshot()
    node.advance_epoch()
    node.advance_epoch()
    node.revert(snapshot)
    assert node.environment == environment
    assert node.epochs.get(2) is None
    assert alice.pay(node, bob, 1).effects.epoch == 1
    assert node.advance_epoch() == 2
    assert node.epochs.get(1).last_checkpoint == snapshot.checkpoint + 2


def test_revert_to_the_end_of_an_epoch_starts_the_next_one_again(node):
    snapshots = []
    unsubscribe = node.subscribe(lambda _checkpoint: snapshots.append(node.snapshot()))
    node.advance_epoch()
    unsubscribe()
    node.revert(snapshots[0])
    assert node.ledger.latest.summary.epoch == 0
    assert node.environment.epoch == 1
    assert node.epochs.get(1).first_checkpoint == node.ledger.latest.number + 1


# --- Money


def test_epoch_change_conserves_sui(node, wall_clock, alice, bob):
    for _ in range(3):
        alice.pay(node, bob, 12_345)
        wall_clock.now_ms += DAY_MS
        node.advance_epoch()
        assert total_sui(node) == SUPPLY_MIST


def test_storage_fund_equals_the_rebates_of_live_objects(node, alice, bob):
    for _ in range(2):
        alice.pay(node, bob, 12_345)
        stake(node, alice)
        node.advance_epoch()
        stored = read_system_state(node.ledger.get).storage_fund.total_object_storage_rebates
        assert stored == sum(value.storage_rebate for value in live_objects(node))


def total_sui(node):
    """Return all SUI in coins, in the validator's pool, in the storage fund and in the subsidy."""
    state = read_system_state(node.ledger.get)
    (validator,) = state.validators.active_validators
    coins = (value for value in live_objects(node) if value.type == GAS_COIN)
    return (
        sum(int.from_bytes(coin.data.contents[32:], "little") for coin in coins)
        + validator.staking_pool.sui_balance
        + state.storage_fund.total_object_storage_rebates
        + state.storage_fund.non_refundable_balance
        + state.stake_subsidy.balance
    )


def live_objects(node):
    """Return the objects that the chain's transactions have written and not removed."""
    written = {}
    for number in range(node.ledger.latest.number + 1):
        for executed in node.ledger.checkpoint(number).transactions:
            written.update(dict.fromkeys(value.id for value in executed.output_objects))
    return filter(None, map(node.ledger.get, written))


def stake(node, account):
    """Return a transaction that changes the system state and pays for its storage."""
    builder = TransactionBuilder()
    state = builder.resolved(SharedObject(SYSTEM_STATE, 1, mutable=True))
    coin = builder.split_coins(builder.gas, [MIST])[0]
    address = builder.address(VALIDATORS[0].address)
    builder.move_call(SUI_SYSTEM, "sui_system", "request_add_stake", [state, coin, address])
    assert account.send(node, account.transaction(node, builder)).effects.status == Success()


def test_rebates_of_objects_rewritten_by_the_epoch_change_stay_with_the_system_state(node, alice):
    stake(node, alice)
    before = node.ledger.get(SYSTEM_STATE).storage_rebate
    node.advance_epoch()
    (executed,) = last_of(node, 0).transactions
    (wrapper,) = [value for value in executed.output_objects if value.id == SYSTEM_STATE]
    others = [value for value in executed.output_objects if value.id != SYSTEM_STATE]
    freed = sum(
        value.storage_rebate
        for value in executed.input_objects
        if value.id in dict(executed.effects.changed_objects)
    )
    assert wrapper.storage_rebate == freed > before > 0
    assert {value.storage_rebate for value in others} == {0}


# --- The system state


def test_system_state_version_rises_from_1_to_2_with_the_first_epoch_change(node):
    assert read_system_state(node.ledger.get).system_state_version == 1
    node.advance_epoch()
    state = read_system_state(node.ledger.get)
    assert state.system_state_version == 2
    assert state.parameters.min_validator_count == 4


def test_subsidy_is_paid_for_epochs_of_at_least_a_day(node, wall_clock):
    million = 1_000_000 * MIST
    wall_clock.now_ms += DAY_MS - 1
    node.advance_epoch()
    assert read_system_state(node.ledger.get).stake_subsidy.balance == 1_000 * million
    wall_clock.now_ms += DAY_MS
    node.advance_epoch()
    state = read_system_state(node.ledger.get)
    assert state.stake_subsidy.balance == 999 * million
    assert state.validators.total_stake == 21 * million


def test_committee_is_sorted_by_key(node):
    state = node.epochs.get(0).state
    (validator,) = state.validators.active_validators
    keys = [b"\2" * 96, b"\1" * 96, b"\3" * 96]
    three = tuple(
        replace(validator, metadata=replace(validator.metadata, protocol_public_key=key))
        for key in keys
    )
    state = replace(state, validators=replace(state.validators, active_validators=three))
    assert [key for key, _ in committee_of(state)] == sorted(keys)


# --- A change that fails


def test_failing_epoch_change_changes_nothing(node, alice, bob, monkeypatch):
    paid = alice.pay(node, bob, 5).effects.gas_used
    before, state = node.ledger.latest, read_system_state(node.ledger.get)
    with monkeypatch.context() as patch:
        patch.setattr(node.machine, "call", _abort_in(node.machine.call, "advance_epoch"))
        with pytest.raises(NexusError) as refused:
            node.advance_epoch()
    assert refused.value.code == "epoch_change_failed"
    assert node.ledger.latest is before
    assert read_system_state(node.ledger.get) == state
    assert node.environment.epoch == 0
    assert node.advance_epoch() == 1
    (change,) = last_of(node, 0).transactions[-1].data.kind.steps
    assert change.computation_charge >= paid.computation_cost


def _abort_in(call, name):
    """Return a replacement for a machine's `call` that aborts in one function."""

    def abort_or_call(function, *rest):
        if function.name == name:
            raise MoveAbort(1, MoveLocation(SUI_SYSTEM, "sui_system", 0, 0, name))
        return call(function, *rest)

    return abort_or_call
