"""Transactions of the validator, whose key is public."""

import pytest

from nexus_tools.sui.localnet.genesis import VALIDATORS
from nexus_tools.sui.localnet.node.epochs import read_system_state
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_SYSTEM, SYSTEM_STATE
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.transaction import OwnedObject, SharedObject
from nexus_tools.sui.types.type_tag import SUI as SUI_TYPE

SUI = 1_000_000_000
DAY_MS = 86_400_000


@pytest.fixture
def validator(node, account_of):
    account = account_of(VALIDATORS[0].account_seed)
    node.fund(account.address, 10 * SUI)
    return account


def call(node, account, function, *arguments):
    """Call a system function that changes the system state, and return the status."""
    builder = TransactionBuilder()
    state = builder.resolved(SharedObject(SYSTEM_STATE, 1, mutable=True))
    values = [argument(builder) for argument in arguments]
    builder.move_call(SUI_SYSTEM, "sui_system", function, [state, *values])
    executed = account.send(node, account.transaction(node, builder))
    assert executed.effects.status == Success()
    return executed


def owned_object(node, account, name):
    """Return the account's only object of a type, by the type's name."""
    (found,) = [value for value in node.ledger.owned_by(account.address) if value.type.name == name]
    return lambda builder: builder.resolved(OwnedObject(found.reference()))


def test_account_seed_matches_the_validators_address(validator):
    assert validator.address == VALIDATORS[0].address


def test_validators_price_becomes_the_next_reference_gas_price(node, validator, bob):
    cap = owned_object(node, validator, "UnverifiedValidatorOperationCap")
    call(node, validator, "request_set_gas_price", cap, lambda builder: builder.u64(1_234))
    assert node.environment.reference_gas_price == 1_000
    node.advance_epoch()
    assert node.environment.reference_gas_price == 1_234
    assert node.epochs.get(0).state.reference_gas_price == 1_000


def test_price_below_the_reference_price_is_refused(node, validator, bob, refused_code):
    cap = owned_object(node, validator, "UnverifiedValidatorOperationCap")
    call(node, validator, "request_set_gas_price", cap, lambda builder: builder.u64(1_001))
    assert node.fund(bob, 1).data.gas.price == 1_000
    node.advance_epoch()
    assert refused_code(validator, validator.payment(node, bob, 1)) == "gas_price_under_rgp"
    assert node.fund(bob, 1).data.gas.price == 1_001


# --- Stake


def stake(node, account, amount):
    builder = TransactionBuilder()
    state = builder.resolved(SharedObject(SYSTEM_STATE, 1, mutable=True))
    coin = builder.split_coins(builder.gas, [amount])[0]
    validator = builder.address(VALIDATORS[0].address)
    builder.move_call(SUI_SYSTEM, "sui_system", "request_add_stake", [state, coin, validator])
    executed = account.send(node, account.transaction(node, builder))
    assert executed.effects.status == Success()
    return executed


def test_stake_earns_its_share_of_rewards(node, wall_clock, accounts):
    """The rewards of an epoch are a million SUI, of which the validator keeps 2 %.

    100 SUI earn from epoch 1 on, in a pool that already has the reward and the fees of epoch 0.
    """
    account = accounts(seed=5)
    funded = node.fund(account.address, 1_000 * SUI)
    staked = stake(node, account, 100 * SUI)
    fees = sum(item.effects.gas_used.computation_cost for item in (funded, staked))
    for _ in range(3):
        wall_clock.now_ms += DAY_MS
        node.advance_epoch()
    reward, given = 1_000_000 * SUI, 0.98
    pool = 20_000_000 * SUI + reward + fees + 100 * SUI
    expected = 100 * SUI * (1 + given * reward / pool) * (1 + given * reward / (pool + reward))
    executed = call(
        node, account, "request_withdraw_stake", owned_object(node, account, "StakedSui")
    )
    (change,) = executed.balance_changes
    assert change.amount + executed.effects.gas_used.net == pytest.approx(expected, abs=5)


def test_withdrawal_of_pending_stake_returns_the_principal(node, alice):
    stake(node, alice, 5 * SUI)
    before = node.ledger.balance(alice.address, SUI_TYPE).amount
    executed = call(node, alice, "request_withdraw_stake", owned_object(node, alice, "StakedSui"))
    assert (
        node.ledger.balance(alice.address, SUI_TYPE).amount
        == before + 5 * SUI - executed.effects.gas_used.net
    )


def test_stake_is_pending_until_the_epoch_ends(node, alice):
    stake(node, alice, 5 * SUI)
    (validator,) = read_system_state(node.ledger.get).validators.active_validators
    assert validator.staking_pool.pending_stake == 5 * SUI
    assert validator.next_epoch_stake == 20_000_005 * SUI
    node.advance_epoch()
    (validator,) = read_system_state(node.ledger.get).validators.active_validators
    assert validator.staking_pool.pending_stake == 0
    assert validator.staking_pool.sui_balance > 20_000_005 * SUI  # and the fees of the epoch
