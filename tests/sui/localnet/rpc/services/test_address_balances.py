"""Address balances from the clients' point of view."""

import grpc
import pytest

from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import CoinReservation, accumulator_id
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.type_tag import SUI, balance_tag

EXECUTE = "TransactionExecutionService/ExecuteTransaction"
SIMULATE = "TransactionExecutionService/SimulateTransaction"
GET_BALANCE = "StateService/GetBalance"
SUI_TYPE = f"{Address.of(2)}::sui::SUI"
COIN = f"{Address.of(2)}::coin::Coin<{SUI_TYPE}>"
MIST = 1_000_000_000
DAVE = Address.of(0xDA7E)
# Numbers of enum values in `sui.rpc.v2`.
MERGE, INTEGER, ACCUMULATOR_WRITE, DOES_NOT_EXIST, NONE = 1, 1, 4, 1, 1
VALID_DURING, WITHDRAWAL, SENDER = 3, 5, 1
SYSTEM_TRANSACTION, SHARED, NON_EXCLUSIVE_WRITE, MUTABLE = 11, 3, 3, 2


def expect_refusal(call, /, *arguments, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details()


def deposit(client, account, amount, recipient):
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [amount])[0]
    arguments = [coin, builder.address(recipient)]
    builder.move_call(SUI_FRAMEWORK, "coin", "send_funds", arguments, [SUI])
    executed = account.execute(client, builder)
    assert executed.effects.status.success, executed.effects.status.error.description
    return executed


def balance(client, owner):
    return client.call(GET_BALANCE, owner=str(owner), coin_type="0x2::sui::SUI").balance


def argument(number):
    return {"kind": 2, "input": number}


def withdrawal_transaction(client, sender, amount, recipient, **fields):
    """Return a transaction of a client that leaves the payment to the node."""
    redeem = {
        "package": "0x2",
        "module": "coin",
        "function": "redeem_funds",
        "type_arguments": ["0x2::sui::SUI"],
        "arguments": [argument(0)],
    }
    transfer = {"objects": [{"kind": 3, "result": 0}], "address": argument(1)}
    withdrawal = {"amount": amount, "coin_type": "0x2::sui::SUI", "source": SENDER}
    programmable = {
        "inputs": [
            {"kind": WITHDRAWAL, "funds_withdrawal": withdrawal},
            {"pure": bytes(recipient)},
        ],
        "commands": [{"move_call": redeem}, {"transfer_objects": transfer}],
    }
    kind = {"programmable_transaction": programmable}
    return client.message("Transaction", kind=kind, sender=str(sender), **fields)


# --- Balances


def test_balance_is_reported_with_its_two_parts(client, alice):
    before = balance(client, alice.address)
    assert not before.HasField("address_balance")
    deposit(client, alice, 300, alice.address)
    after = balance(client, alice.address)
    assert after.address_balance == 300
    assert after.coin_balance == before.coin_balance - 300 - 1_009_880  # gas
    assert after.balance == after.coin_balance + 300


def test_address_balance_is_listed_as_balance_but_not_as_object(client, alice):
    deposit(client, alice, 300, DAVE)
    (only,) = client.call("StateService/ListBalances", owner=str(DAVE)).balances
    assert (only.coin_type, only.balance, only.address_balance) == (SUI_TYPE, 300, 300)
    assert not only.HasField("coin_balance")
    assert not client.call("StateService/ListOwnedObjects", owner=str(DAVE)).objects


def test_balances_are_dynamic_fields_of_the_root(client, alice):
    deposit(client, alice, 300, DAVE)
    root = str(ACCUMULATOR_ROOT)
    listed = client.call("StateService/ListDynamicFields", "*", parent=root).dynamic_fields
    fields = {item.field_id: item for item in listed}
    field = fields[str(accumulator_id(DAVE, balance_tag(SUI)))]
    assert field.name.value == bytes(DAVE)
    assert field.value_type == f"{Address.of(2)}::accumulator::U128"
    assert field.value.value == (300).to_bytes(16, "little")


# --- Effects and checkpoints


def test_effects_contain_the_change_of_a_balance(client, alice):
    executed = deposit(client, alice, 300, DAVE)
    object_id = str(accumulator_id(DAVE, balance_tag(SUI)))
    changed = executed.effects.changed_objects
    (change,) = (item for item in changed if item.object_id == object_id)
    assert (change.input_state, change.output_state) == (DOES_NOT_EXIST, ACCUMULATOR_WRITE)
    assert change.id_operation == NONE
    write = change.accumulator_write
    assert (write.address, write.operation) == (str(DAVE), MERGE)
    assert write.accumulator_type == f"{Address.of(2)}::balance::Balance<{SUI_TYPE}>"
    assert (write.value_kind, write.integer_value) == (INTEGER, 300)
    changes = {entry.address: entry.amount for entry in executed.balance_changes}
    assert changes == {str(DAVE): "300", str(alice.address): str(-300 - 1_009_880)}


def test_checkpoint_contains_the_settlement_transactions(client, alice):
    number = deposit(client, alice, 300, DAVE).checkpoint
    checkpoint = client.call(
        "LedgerService/GetCheckpoint", "transactions.transaction", sequence_number=number
    ).checkpoint
    _, settlement, barrier = (
        transaction.transaction.kind for transaction in checkpoint.transactions
    )
    assert settlement.kind == barrier.kind == SYSTEM_TRANSACTION
    for kind, mutability in ((settlement, NON_EXCLUSIVE_WRITE), (barrier, MUTABLE)):
        root = kind.programmable_transaction.inputs[0]
        assert (root.kind, root.object_id) == (SHARED, str(ACCUMULATOR_ROOT))
        assert root.mutability == mutability
    functions = [
        command.move_call.function for command in settlement.programmable_transaction.commands
    ]
    assert functions == ["settlement_prologue", "settle_u128"]


@pytest.mark.parametrize(
    "term",
    [
        {"affected_address": {"address": str(DAVE)}},
        {"move_call": {"function": "0x2::accumulator_settlement::settle_u128"}},
    ],
    ids=lambda term: next(iter(term)),
)
def test_transactions_are_found_by_the_changed_balances(client, alice, term):
    executed = deposit(client, alice, 300, DAVE)
    terms = {"terms": [{"literals": [term]}]}
    responses = client.stream("LedgerService/ListTransactions", "*", filter=terms)
    found = [response.transaction for response in responses if response.HasField("transaction")]
    assert [item.checkpoint for item in found] == [executed.checkpoint]


# --- Selecting gas


def test_gas_is_paid_from_the_payers_balance_first(client, alice):
    deposit(client, alice, MIST, alice.address)
    wanted = withdrawal_transaction(client, alice.address, 7, DAVE)
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    transaction, effects = simulated.transaction, simulated.effects
    assert list(transaction.gas_payment.objects) == []
    # 1 000 gas units and a new coin, and 1 000 gas units of safety margin
    assert transaction.gas_payment.budget == 1_000_000 + 988_000 + 1_000_000
    assert transaction.expiration.kind == VALID_DURING
    assert (transaction.expiration.min_epoch, transaction.expiration.epoch) == (0, 1)
    chain = client.call("LedgerService/GetServiceInfo").chain_id
    assert transaction.expiration.chain == chain
    assert not effects.HasField("gas_object")
    data = transaction.bcs.value
    signature = {"bcs": {"value": alice.sign(data)}}
    client.call(EXECUTE, transaction={"bcs": {"value": data}}, signatures=[signature])
    assert balance(client, DAVE).coin_balance == 7
    assert balance(client, alice.address).address_balance == MIST - 7 - 1_988_000


def test_each_gas_selection_creates_another_digest(client, alice):
    deposit(client, alice, MIST, alice.address)
    wanted = withdrawal_transaction(client, alice.address, 7, DAVE)
    digests = {
        client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction.digest
        for _ in range(2)
    }
    assert len(digests) == 2


@pytest.mark.parametrize("amount", [1, 3_000_000])
def test_coins_pay_when_the_balance_is_insufficient(client, alice, amount):
    deposit(client, alice, 3_000_000, alice.address)
    # After a withdrawal of 1 MIST, 2 999 999 are left, which is sufficient.
    wanted = withdrawal_transaction(client, alice.address, amount, DAVE)
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    assert simulated.effects.status.success
    assert bool(simulated.transaction.gas_payment.objects) is (amount > 1)


def split_transaction(sender, amount, recipient, **fields):
    """Return a transaction that splits the gas coin."""
    transfer = {"objects": [{"kind": 3, "result": 0, "subresult": 0}], "address": argument(1)}
    split = {"coin": {"kind": 1}, "amounts": [argument(0)]}
    programmable = {
        "inputs": [{"pure": amount.to_bytes(8, "little")}, {"pure": bytes(recipient)}],
        "commands": [{"split_coins": split}, {"transfer_objects": transfer}],
    }
    kind = {"programmable_transaction": programmable}
    return {"kind": kind, "sender": str(sender), **fields}


def test_balance_is_reserved_before_coins_when_the_gas_coin_is_used(client, alice):
    deposit(client, alice, MIST, alice.address)
    wanted = split_transaction(alice.address, 100 * MIST, DAVE)
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    assert simulated.effects.status.success
    reserved, *coins = simulated.transaction.gas_payment.objects
    assert {coin.object_id for coin in coins} == {
        str(coin.object_id) for coin in alice.coins(client)
    }
    chain = Digest.parse(client.call("LedgerService/GetServiceInfo").chain_id)
    expected = CoinReservation.of(alice.address, SUI, MIST, 0).reference(chain)
    assert (reserved.object_id, reserved.version) == (str(expected.object_id), 0)
    assert reserved.digest == str(expected.digest)
    assert simulated.transaction.expiration.kind == VALID_DURING
    # Only the second coin adds a loading cost, because a reservation is not loaded.
    assert simulated.transaction.gas_payment.budget % 1_000_000 == 988_000
    data = simulated.transaction.bcs.value
    signature = {"bcs": {"value": alice.sign(data)}}
    executed = client.call(EXECUTE, transaction={"bcs": {"value": data}}, signatures=[signature])
    assert executed.transaction.effects.status.success
    assert balance(client, DAVE).balance == 100 * MIST
    assert not client.call(
        "StateService/ListOwnedObjects", owner=str(alice.address), object_type=COIN
    ).objects


def test_reservation_of_the_client_is_kept(client, alice):
    deposit(client, alice, MIST, alice.address)
    chain = Digest.parse(client.call("LedgerService/GetServiceInfo").chain_id)
    chosen = CoinReservation.of(alice.address, SUI, 30_000_000, 0).reference(chain)
    reference = {"object_id": str(chosen.object_id), "version": 0, "digest": str(chosen.digest)}
    payment = {"objects": [reference], "owner": str(alice.address)}
    during = {"kind": VALID_DURING, "min_epoch": 0, "epoch": 1, "chain": str(chain)}
    wanted = split_transaction(alice.address, 5, DAVE, gas_payment=payment, expiration=during)
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    assert simulated.effects.status.success
    (kept,) = simulated.transaction.gas_payment.objects
    assert kept.object_id == str(chosen.object_id)
    # 1 000 gas units and a new coin, and 1 000 gas units of safety margin
    assert simulated.transaction.gas_payment.budget == 2_988_000


def test_expiration_of_the_client_is_kept(client, alice):
    deposit(client, alice, MIST, alice.address)
    chain = client.call("LedgerService/GetServiceInfo").chain_id
    chosen = {"kind": VALID_DURING, "min_epoch": 0, "epoch": 0, "chain": chain, "nonce": 77}
    wanted = withdrawal_transaction(client, alice.address, 7, DAVE, expiration=chosen)
    simulated = client.call(SIMULATE, transaction=wanted, do_gas_selection=True).transaction
    assert simulated.transaction.expiration.nonce == 77
    assert simulated.transaction.expiration.epoch == 0


def test_withdrawal_above_the_balance_is_refused_before_execution(client, alice):
    deposit(client, alice, 300, alice.address)
    wanted = withdrawal_transaction(client, alice.address, 301, DAVE)
    for selection in (True, False):
        code, details = expect_refusal(
            client.call, SIMULATE, transaction=wanted, do_gas_selection=selection
        )
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert details.startswith(
            "Error checking transaction input objects: Invalid withdraw reservation: Insufficient"
            f" address balance of coin type 0x2::sui::SUI for address {alice.address}: the"
            " transaction requires 301 but only 300 is available."
        )
