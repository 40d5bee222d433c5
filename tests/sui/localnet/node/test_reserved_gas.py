"""Gas from reservations: coin references that stand for the sender's address balance."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.execution import TransactionRefused
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.address_balance import CoinReservation
from nexus_tools.sui.types.digest import Digest, created_object_id
from nexus_tools.sui.types.effects import AccumulatorWrite, IdOperation
from nexus_tools.sui.types.execution_status import ExecutionFailure, Success
from nexus_tools.sui.types.expiration import NoExpiration, ValidDuring
from nexus_tools.sui.types.transaction import GasData, OwnedObject
from nexus_tools.sui.types.type_tag import SUI

DEPOSIT = 300_000_000
BUDGET = 50_000_000
# 1 000 units of 1 000 MIST; a coin of 130 bytes at 7 600 MIST, 99 % of which is refunded
COMPUTATION, COIN, REBATE = 1_000_000, 988_000, 978_120


@pytest.fixture
def payer(node, accounts, alice):
    """Return an account with an address balance and a coin of 20 000 000 MIST."""
    payer = accounts(seed=9)
    builder = TransactionBuilder()
    coin, money = (
        builder.split_coins(builder.gas, [amount])[0] for amount in (20_000_000, DEPOSIT)
    )
    builder.transfer_objects([coin], payer.address)
    arguments = [money, builder.address(payer.address)]
    builder.move_call(SUI_FRAMEWORK, "coin", "send_funds", arguments, [SUI])
    alice.send(node, alice.transaction(node, builder))
    return payer


def reserved_transaction(
    node, account, builder, amount=DEPOSIT, *, coins=(), coins_first=False, **options
):
    """Return a transaction that is paid from a reservation and coins."""
    reservation = CoinReservation.of(account.address, SUI, amount, options.get("epoch", 0))
    reference = reservation.reference(options.get("chain", node.chain_id))
    payment = [reference, *(coin.reference() for coin in coins)]
    if coins_first:
        payment.reverse()
    gas = GasData(tuple(payment), account.address, 1000, BUDGET)
    data = account.transaction(node, builder)
    expiration = ValidDuring(0, 1, None, None, node.chain_id, 0)
    return replace(data, gas=gas, expiration=options.get("expiration", expiration))


def payment_transaction(recipient, amount):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], recipient)
    return builder


def money(node, owner):
    found = node.ledger.balance(owner, SUI)
    return found.amount, found.in_address


def expect_refusal(node, account, data):
    with pytest.raises(TransactionRefused) as refusal:
        account.send(node, data)
    return refusal.value.code


def test_temporary_gas_coin_returns_into_the_balance(node, payer, bob):
    executed = payer.send(node, reserved_transaction(node, payer, payment_transaction(bob, 1_000)))
    assert executed.effects.status == Success()
    assert executed.effects.gas_object_index is None
    assert executed.effects.gas_used.net == COMPUTATION + COIN
    assert money(node, bob) == (1_000, 0)
    assert money(node, payer.address) == (20_000_000, DEPOSIT - 1_000 - COMPUTATION - COIN)
    # The temporary coin has the first ID, and the coin that was split off has the second.
    assert node.ledger.get(created_object_id(executed.digest, 0)) is None
    assert node.ledger.get(created_object_id(executed.digest, 1)) is not None


def test_coins_after_a_reservation_are_merged_into_the_balance(node, payer, bob):
    coins = payer.coins(node)
    executed = payer.send(
        node, reserved_transaction(node, payer, payment_transaction(bob, 265_000_000), coins=coins)
    )
    assert executed.effects.status == Success()
    left = DEPOSIT + 20_000_000 - 265_000_000 - COMPUTATION - COIN + REBATE
    assert money(node, payer.address) == (0, left)
    changes = dict(executed.effects.changed_objects)
    assert changes[coins[0].id].operation is IdOperation.DELETED


def test_reservation_after_a_coin_is_merged_into_the_coin(node, payer, bob):
    coins = payer.coins(node)
    data = reserved_transaction(
        node, payer, payment_transaction(bob, 265_000_000), coins=coins, coins_first=True
    )
    executed = payer.send(node, data)
    assert executed.effects.status == Success()
    gas_object, _ = executed.effects.changed_objects[executed.effects.gas_object_index]
    assert gas_object == coins[0].id
    left = DEPOSIT + 20_000_000 - 265_000_000 - COMPUTATION - 2 * COIN + REBATE
    assert money(node, payer.address) == (left, 0)


def test_transferred_gas_coin_pays_the_gas(node, payer, bob):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.gas], bob)
    executed = payer.send(node, reserved_transaction(node, payer, builder))
    assert executed.effects.status == Success()
    assert executed.effects.gas_object_index is None
    assert money(node, payer.address) == (20_000_000, 0)
    assert money(node, bob) == (DEPOSIT - COMPUTATION - COIN, 0)
    (coin,) = node.ledger.owned_by(bob)
    assert coin.id == created_object_id(executed.digest, 0)
    assert dict(executed.effects.changed_objects)[coin.id].operation is IdOperation.CREATED


def test_split_above_the_balance_fails_and_costs_only_gas(node, payer, bob):
    coins = payer.coins(node)
    data = reserved_transaction(node, payer, payment_transaction(bob, 320_000_000), coins=coins)
    executed = payer.send(node, data)
    assert isinstance(executed.effects.status, ExecutionFailure)
    assert executed.effects.status.error.kind.name == "INSUFFICIENT_COIN_BALANCE"
    # The coin was still merged into the balance.
    net = executed.effects.gas_used.net
    assert money(node, payer.address) == (0, DEPOSIT + 20_000_000 - net)


def test_gas_coin_contains_only_the_reserved_amount(node, payer, bob):
    data = reserved_transaction(
        node, payer, payment_transaction(bob, 30_000_001), amount=80_000_000
    )
    assert isinstance(payer.send(node, data).effects.status, ExecutionFailure)
    data = reserved_transaction(
        node, payer, payment_transaction(bob, 30_000_000), amount=80_000_000
    )
    assert payer.send(node, data).effects.status == Success()


def test_unused_reservation_writes_only_gas(node, payer):
    executed = payer.send(node, reserved_transaction(node, payer, TransactionBuilder()))
    ((_, change),) = executed.effects.changed_objects
    assert isinstance(change.output, AccumulatorWrite)
    assert change.output.value.value == COMPUTATION


# --- Refusals


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"amount": DEPOSIT + 1}, "invalid_withdraw_reservation"),
        ({"amount": 0}, "invalid_withdraw_reservation"),
        ({"amount": BUDGET - 1}, "gas_balance_too_low"),
        ({"epoch": 1}, "transaction_expired"),
        ({"chain": Digest(bytes(32))}, "gas_object_not_owned_object"),
    ],
    ids=str,
)
def test_reservation_must_be_valid_for_this_epoch_and_chain(node, payer, options, code):
    data = reserved_transaction(node, payer, TransactionBuilder(), **options)
    assert expect_refusal(node, payer, data) == code


def test_transaction_with_a_reservation_needs_no_expiration(node, payer, bob):
    # As in Sui's `test_gas_coin_callarg_with_coin_reservation_gas`, and as @mysten/sui builds it.
    data = reserved_transaction(
        node, payer, payment_transaction(bob, 1_000), expiration=NoExpiration()
    )
    assert payer.send(node, data).effects.status == Success()
    assert money(node, bob) == (1_000, 0)


def test_reservation_must_be_of_the_senders_balance(node, payer, alice):
    builder = TransactionBuilder()
    theirs = CoinReservation.of(payer.address, SUI, DEPOSIT, 0).reference(node.chain_id)
    data = alice.transaction(node, builder)
    data = replace(data, gas=GasData((theirs,), alice.address, 1000, BUDGET))
    assert expect_refusal(node, alice, data) == "gas_object_not_owned_object"


def test_sponsor_cannot_pay_with_a_reservation(node, payer, alice):
    data = reserved_transaction(node, payer, TransactionBuilder())
    data = replace(data, sender=alice.address)
    encoded = data.encode()
    with pytest.raises(TransactionRefused) as refusal:
        node.execute(encoded, [alice.sign(encoded), payer.sign(encoded)])
    assert refusal.value.code == "gas_object_not_owned_object"


def test_reservations_are_refused_as_inputs_of_commands(node, payer, alice, bob):
    builder = TransactionBuilder()
    reference = CoinReservation.of(alice.address, SUI, 5, 0).reference(node.chain_id)
    builder.transfer_objects([builder.resolved(OwnedObject(reference))], bob)
    with pytest.raises(TransactionRefused, match="coin reservation"):
        alice.send(node, alice.transaction(node, builder))
