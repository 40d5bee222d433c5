"""Deposits into and withdrawals from address balances, on a whole node."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.bcs import u256
from nexus_tools.sui.localnet.execution import Mode, TransactionRefused
from nexus_tools.sui.localnet.ledger import BalanceChange
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.node.settlement import Settlement
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import accumulator_id
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects import (
    Absent,
    AccumulatorInteger,
    AccumulatorOperation,
    AccumulatorWrite,
    GasCostSummary,
    IdOperation,
    ObjectChange,
    ReadOnlyRoot,
    TransactionEffects,
)
from nexus_tools.sui.types.execution_status import ExecutionFailure, Success
from nexus_tools.sui.types.expiration import NoExpiration, ValidDuring
from nexus_tools.sui.types.object import ObjectOwner
from nexus_tools.sui.types.transaction import (
    GasData,
    OwnedObject,
    ProgrammableSystemTransaction,
    Pure,
    SharedObject,
)
from nexus_tools.sui.types.type_tag import SUI, balance_tag, parse_struct_tag

CAROL = Address.of(0xCA01)
DAVE = Address.of(0xDA7E)
MIST = 1_000_000_000
MERGE, SPLIT = AccumulatorOperation.MERGE, AccumulatorOperation.SPLIT


def put(builder, amount, recipient):
    """Deposit an amount of the gas coin into an address balance."""
    coin = builder.split_coins(builder.gas, [amount])[0]
    builder.move_call(
        SUI_FRAMEWORK, "coin", "send_funds", [coin, builder.address(recipient)], [SUI]
    )


def take(builder, amount, recipient, *, reserved=None):
    """Send a part of a withdrawal from the sender's address balance as a coin."""
    right = builder.withdrawal(reserved or amount, SUI)
    if reserved is not None:
        funds = balance_tag(SUI)
        limit = builder.pure(u256, amount)
        right = builder.move_call(
            SUI_FRAMEWORK, "funds_accumulator", "withdrawal_split", [right, limit], [funds]
        )
    coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [right], [SUI])
    builder.transfer_objects([coin], recipient)


def deposit(node, account, amount, recipient=None):
    builder = TransactionBuilder()
    put(builder, amount, recipient or account.address)
    executed = account.send(node, account.transaction(node, builder))
    assert executed.effects.status == Success()
    return executed


def balance_paid_transaction(
    node, account, builder, *, nonce=0, budget=50_000_000, window=(0, 1), payer=None
):
    """Return a transaction whose gas is paid from an address balance."""
    gas = GasData((), payer or account.address, 1000, budget)
    expiration = ValidDuring(*window, None, None, node.chain_id, nonce)
    data = account.transaction(node, builder)
    return replace(data, gas=gas, expiration=expiration)


def address_balance_of(node, owner):
    return node.ledger.balance(owner, SUI).in_address


def writes(executed):
    found = (change.output for _, change in executed.effects.changed_objects)
    return [write for write in found if isinstance(write, AccumulatorWrite)]


def effects_with(*changes):
    """Return effects with only these changes of balances."""
    changed = tuple(
        (
            accumulator_id(owner, funds),
            ObjectChange(
                Absent(),
                AccumulatorWrite(owner, funds, operation, AccumulatorInteger(amount)),
                IdOperation.NONE,
            ),
        )
        for operation, owner, funds, amount in changes
    )
    gas, digest = GasCostSummary(0, 0, 0, 0), Digest(bytes(32))
    return TransactionEffects(Success(), 0, gas, digest, None, None, (), 1, changed, (), None)


def values(kind, command, size):
    """Return the arguments of a call that are numbers of `size` bytes."""
    inputs = [kind.inputs[argument.index] for argument in kind.commands[command].arguments]
    plain = [value.value for value in inputs if isinstance(value, Pure)]
    return [int.from_bytes(value, "little") for value in plain if len(value) == size]


# --- Deposits


def test_deposit_is_in_the_balance_after_its_checkpoint(node, alice):
    executed = deposit(node, alice, 1000, CAROL)
    assert address_balance_of(node, CAROL) == 1000
    assert node.ledger.owned_by(CAROL) == []
    assert executed.balance_changes[0] == BalanceChange(CAROL, SUI, 1000)
    deposit(node, alice, 1000, CAROL)
    assert address_balance_of(node, CAROL) == 2000


def test_effects_of_a_deposit_contain_the_balance_and_no_object(node, alice):
    executed = deposit(node, alice, 1000, CAROL)
    funds = balance_tag(SUI)
    changes = dict(executed.effects.changed_objects)
    change = changes[accumulator_id(CAROL, funds)]
    assert change.input == Absent()
    assert change.output == AccumulatorWrite(CAROL, funds, MERGE, AccumulatorInteger(1000))
    assert list(changes) == sorted(changes)


def test_checkpoint_ends_with_settlement_and_barrier(node, alice):
    deposit(node, alice, 1000, CAROL)
    root = node.ledger.get(ACCUMULATOR_ROOT)
    _, settlement, barrier = node.ledger.latest.transactions
    for executed in (settlement, barrier):
        assert isinstance(executed.data.kind, ProgrammableSystemTransaction)
        assert executed.data.sender == Address.of(0)
        assert executed.effects.status == Success()
        assert executed.effects.gas_used.net == 0
        assert executed.balance_changes == ()
    # The settlement only reads the root, whose fields it writes; the barrier writes it.
    ((read, how),) = settlement.effects.unchanged_consensus_objects
    assert (read, how.version) == (ACCUMULATOR_ROOT, root.version - 1)
    assert isinstance(how, ReadOnlyRoot)
    assert [object_id for object_id, _ in barrier.effects.changed_objects] == [ACCUMULATOR_ROOT]
    balance = node.ledger.get(accumulator_id(CAROL, balance_tag(SUI)))
    assert balance.owner == ObjectOwner(ACCUMULATOR_ROOT)
    assert balance.previous_transaction == settlement.digest
    assert balance.version == root.version


def test_settlement_sums_up_its_transactions():
    funds, usd = balance_tag(SUI), balance_tag(parse_struct_tag("0x7::usd::USD"))
    settlement = Settlement(epoch=3, checkpoint=9, root_version=4)
    settlement.add(effects_with((MERGE, CAROL, funds, 7), (SPLIT, DAVE, funds, 5)))
    settlement.add(effects_with((MERGE, DAVE, funds, 5), (MERGE, CAROL, usd, 2)))
    main, barrier = settlement.transactions()
    root = SharedObject(ACCUMULATOR_ROOT, 4, mutable=True, exclusive=False)
    assert main.inputs[0] == root
    assert barrier.inputs[0] == replace(root, exclusive=True)
    # epoch, checkpoint, number, SUI deposited, SUI withdrawn
    assert values(main, 0, 8) == [3, 9, 0, 12, 5]
    assert values(barrier, 0, 8) == [3, 9, 1, 0, 0]
    # Dave's changes cancel out, so there is nothing to write. The rest is sorted by ID.
    assert Pure(bytes(DAVE)) in main.inputs
    first, second = sorted((funds, usd), key=lambda each: accumulator_id(CAROL, each))
    calls = [(call.type_arguments, call.function) for call in main.commands]
    assert calls[1:] == [((first,), "settle_u128"), ((second,), "settle_u128")]
    amounts = {funds: 7, usd: 2}
    for place, item in enumerate((first, second), 1):
        _, owner, merged, split = main.commands[place].arguments
        found = [main.inputs[argument.index].value for argument in (owner, merged, split)]
        assert found == [bytes(CAROL), amounts[item].to_bytes(16, "little"), bytes(16)]


def test_equal_values_share_one_input():
    settlement = Settlement(epoch=0, checkpoint=1, root_version=1)
    settlement.add(effects_with((MERGE, CAROL, balance_tag(SUI), 1)))
    main, barrier = settlement.transactions()
    # the root, 0, 1, the owner and two amounts of 128 bits; the root, 0 and 1
    assert (len(main.inputs), len(barrier.inputs)) == (6, 3)


def test_checkpoint_without_balance_changes_has_no_settlement(node, alice, bob):
    version = node.ledger.get(ACCUMULATOR_ROOT).version
    alice.pay(node, bob, 5)
    assert len(node.ledger.latest.transactions) == 1
    assert node.ledger.get(ACCUMULATOR_ROOT).version == version


def test_settlement_covers_at_most_100_balances(node, alice):
    owners = [Address.of(0xF000 + number) for number in range(201)]
    builder = TransactionBuilder()
    amount = builder.u64(1)
    for owner in owners:
        coin = builder.move_call(
            SUI_FRAMEWORK, "coin", "split", [builder.gas, amount], type_arguments=(SUI,)
        )
        arguments = [coin, builder.address(owner)]
        builder.move_call(SUI_FRAMEWORK, "coin", "send_funds", arguments, [SUI])
    alice.send(node, alice.transaction(node, builder, budget=MIST))
    # prologue calls and balances: 100, 100 and 1; and the barrier, which is the transaction 3
    settlements = node.ledger.latest.transactions[1:]
    assert [len(settlement.data.kind.commands) for settlement in settlements] == [101, 101, 2, 1]
    assert {address_balance_of(node, owner) for owner in owners} == {1}


def test_deposits_and_withdrawals_of_a_transaction_are_netted(node, alice):
    deposit(node, alice, 1000)
    builder = TransactionBuilder()
    right = builder.withdrawal(300, SUI)
    coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [right], [SUI])
    arguments = [coin, builder.address(alice.address)]
    builder.move_call(SUI_FRAMEWORK, "coin", "send_funds", arguments, [SUI])
    put(builder, 20, alice.address)
    executed = alice.send(node, alice.transaction(node, builder))
    (write,) = writes(executed)
    assert (write.operation, write.value) == (MERGE, AccumulatorInteger(20))
    assert address_balance_of(node, alice.address) == 1020


# --- Withdrawals


def test_withdrawal_creates_a_coin_from_a_balance(node, alice, bob):
    deposit(node, alice, 1000)
    builder = TransactionBuilder()
    take(builder, 400, bob)
    executed = alice.send(node, alice.transaction(node, builder))
    assert executed.effects.status == Success()
    assert address_balance_of(node, alice.address) == 600
    assert node.ledger.balance(bob, SUI).amount == 400
    (write,) = writes(executed)
    assert (write.operation, write.value) == (SPLIT, AccumulatorInteger(400))


def test_empty_balance_is_deleted_with_its_fields(node, alice, bob):
    before = len(node.ledger.children_of(ACCUMULATOR_ROOT))
    deposit(node, alice, 1000)
    assert len(node.ledger.children_of(ACCUMULATOR_ROOT)) == before + 2  # itself, and its owner's
    builder = TransactionBuilder()
    take(builder, 1000, bob)
    alice.send(node, alice.transaction(node, builder))
    assert address_balance_of(node, alice.address) == 0
    assert node.ledger.get(accumulator_id(alice.address, balance_tag(SUI))) is None
    assert len(node.ledger.children_of(ACCUMULATOR_ROOT)) == before


def test_withdrawal_may_use_less_than_its_limit(node, alice, bob):
    deposit(node, alice, 1000)
    builder = TransactionBuilder()
    take(builder, 800, bob, reserved=1000)
    executed = alice.send(node, alice.transaction(node, builder))
    assert executed.effects.status == Success()
    assert address_balance_of(node, alice.address) == 200


def test_withdrawal_cannot_exceed_its_limit(node, alice, bob):
    deposit(node, alice, 1000)
    builder = TransactionBuilder()
    take(builder, 501, bob, reserved=500)
    status = alice.send(node, alice.transaction(node, builder)).effects.status
    assert isinstance(status, ExecutionFailure)
    assert status.error.data.location.function_name == "withdrawal_split"
    assert address_balance_of(node, alice.address) == 1000


def test_limit_cannot_exceed_the_balance(node, alice, bob):
    deposit(node, alice, 1000)
    builder = TransactionBuilder()
    take(builder, 600, bob)
    take(builder, 401, bob)
    before = node.ledger.latest
    with pytest.raises(TransactionRefused) as refusal:
        alice.send(node, alice.transaction(node, builder))
    assert refusal.value.code == "invalid_withdraw_reservation"
    assert refusal.value.message == (
        "Invalid withdraw reservation: Insufficient address balance of coin type 0x2::sui::SUI for"
        f" address {alice.address}: the transaction requires 1001 but only 1000 is available. Note"
        " that the address balance does not include funds held in Coin objects owned by the"
        " address; to spend those funds, use the Coin objects directly as transaction inputs."
    )
    assert node.ledger.latest is before


def test_failed_transaction_withdraws_only_gas(node, alice):
    deposit(node, alice, 1000)
    builder = TransactionBuilder()
    take(builder, 400, alice.address)
    builder.transfer_objects([builder.split_coins(builder.gas, [2**63])[0]], alice.address)
    executed = alice.send(node, alice.transaction(node, builder))
    assert isinstance(executed.effects.status, ExecutionFailure)
    assert writes(executed) == []
    assert address_balance_of(node, alice.address) == 1000


# --- Gas


def test_balance_pays_gas_when_the_payer_has_no_coin(node, accounts, alice, bob):
    poor = accounts(seed=9)
    deposit(node, alice, 60_000_000, poor.address)
    builder = TransactionBuilder()
    take(builder, 5_000_000, bob)
    executed = poor.send(node, balance_paid_transaction(node, poor, builder))
    effects = executed.effects
    assert effects.status == Success()
    assert effects.gas_object_index is None
    # computation 1 000 units of 1 000 MIST, a coin of 130 bytes at 7 600 MIST
    assert effects.gas_used.net == 1_000_000 + 988_000
    assert address_balance_of(node, poor.address) == 60_000_000 - 5_000_000 - 1_988_000
    assert [(change.address, change.amount) for change in executed.balance_changes] == [
        (bob, 5_000_000),
        (poor.address, -6_988_000),
    ]


def test_rebate_above_the_costs_is_added_to_the_balance(node, alice):
    deposit(node, alice, 100_000_000)
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [1, 1, 1])
    builder.transfer_objects([coins[number] for number in range(3)], alice.address)
    alice.send(node, alice.transaction(node, builder))
    largest, *small = sorted(alice.coins(node), key=lambda coin: -_balance(coin))
    builder = TransactionBuilder()
    first, *rest = (builder.resolved(OwnedObject(coin.reference())) for coin in (largest, *small))
    builder.merge_coins(first, rest)
    executed = alice.send(node, balance_paid_transaction(node, alice, builder))
    # four coins of 988 000 MIST are removed with a refund of 99 %; one of them is stored again
    net = 1_000_000 + 988_000 - 4 * 988_000 * 99 // 100
    assert executed.effects.gas_used.net == net < 0
    assert address_balance_of(node, alice.address) == 100_000_000 - net


def test_failed_transaction_pays_gas_from_the_balance(node, alice):
    deposit(node, alice, 100_000_000)
    builder = TransactionBuilder()
    builder.move_call(SUI_FRAMEWORK, "balance", "destroy_zero", [_one(builder)], [SUI])
    executed = alice.send(node, balance_paid_transaction(node, alice, builder))
    assert isinstance(executed.effects.status, ExecutionFailure)
    assert address_balance_of(node, alice.address) == 100_000_000 - executed.effects.gas_used.net


def test_sponsor_pays_from_its_own_balance(node, accounts, alice, bob):
    sponsor = accounts(seed=8)
    deposit(node, alice, 100_000_000, sponsor.address)
    (coin,) = alice.coins(node)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.resolved(OwnedObject(coin.reference()))], bob)
    data = balance_paid_transaction(node, alice, builder, payer=sponsor.address).encode()
    executed = node.execute(data, [alice.sign(data), sponsor.sign(data)])
    assert executed.effects.status == Success()
    assert address_balance_of(node, sponsor.address) == 100_000_000 - executed.effects.gas_used.net


def test_balance_must_cover_budget_and_withdrawals_together(node, alice, bob):
    deposit(node, alice, 50_000_000)
    builder = TransactionBuilder()
    take(builder, 1, bob)
    with pytest.raises(TransactionRefused) as refusal:
        alice.send(node, balance_paid_transaction(node, alice, builder, budget=50_000_000))
    assert "requires 50000001 but only 50000000 is available" in refusal.value.message
    executed = alice.send(node, balance_paid_transaction(node, alice, builder, budget=49_999_999))
    assert executed.effects.status == Success()


# --- Replays


@pytest.mark.parametrize("window", [(0, 2), (None, 0), (0, None), (None, None)])
def test_transaction_without_owned_objects_is_valid_for_two_epochs(node, alice, window):
    deposit(node, alice, 100_000_000)
    with pytest.raises(TransactionRefused) as refusal:
        alice.send(node, balance_paid_transaction(node, alice, TransactionBuilder(), window=window))
    assert refusal.value.code == "invalid_expiration"


def test_owned_object_prevents_a_second_execution(node, alice, bob):
    deposit(node, alice, 100_000_000)
    (coin,) = alice.coins(node)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.resolved(OwnedObject(coin.reference()))], bob)
    data = replace(balance_paid_transaction(node, alice, builder), expiration=NoExpiration())
    assert alice.send(node, data).effects.status == Success()


def test_nonce_distinguishes_transactions(node, alice, bob):
    deposit(node, alice, 100_000_000)
    builder = TransactionBuilder()
    take(builder, 10, bob)
    first = alice.send(node, balance_paid_transaction(node, alice, builder, nonce=1))
    again = alice.send(node, balance_paid_transaction(node, alice, builder, nonce=1))
    assert again == first
    assert node.ledger.balance(bob, SUI).amount == 10
    alice.send(node, balance_paid_transaction(node, alice, builder, nonce=2))
    assert node.ledger.balance(bob, SUI).amount == 20


# --- Simulations, going back


def test_simulation_is_paid_like_the_transaction(node, alice, bob):
    deposit(node, alice, 100_000_000)
    builder = TransactionBuilder()
    take(builder, 10, bob)
    executed, _ = node.simulate(balance_paid_transaction(node, alice, builder), Mode.SIMULATE)
    assert executed.effects.gas_object_index is None
    (write,) = writes(executed)
    assert write.value == AccumulatorInteger(10 + executed.effects.gas_used.net)
    assert address_balance_of(node, alice.address) == 100_000_000


def test_simulation_uses_a_mock_coin_when_the_payer_cannot_pay(node, accounts):
    poor = accounts(seed=9)
    executed, _ = node.simulate(
        balance_paid_transaction(node, poor, TransactionBuilder()), Mode.SIMULATE
    )
    assert executed.effects.status == Success()
    assert executed.effects.gas_object_index is not None


def test_simulation_cannot_withdraw_more_than_the_balance(node, alice, bob):
    builder = TransactionBuilder()
    take(builder, 10, bob)
    for mode in (Mode.SIMULATE, Mode.INSPECT):
        with pytest.raises(TransactionRefused, match="requires 10 but only 0 is available"):
            node.simulate(balance_paid_transaction(node, alice, builder), mode)


def test_revert_restores_balances(node, alice):
    deposit(node, alice, 1000)
    snapshot = node.snapshot()
    deposit(node, alice, 500)
    assert address_balance_of(node, alice.address) == 1500
    node.revert(snapshot)
    assert address_balance_of(node, alice.address) == 1000


def test_balances_survive_a_restart(tmp_path, wall_clock, accounts):
    alice = accounts(seed=1)
    node = Node.open(tmp_path, wall_clock=wall_clock)
    node.fund(alice.address, 10 * MIST)
    deposit(node, alice, 1000)
    node.close()
    node = Node.open(tmp_path, wall_clock=wall_clock)
    assert address_balance_of(node, alice.address) == 1000
    node.close()


def _balance(coin):
    return int.from_bytes(coin.data.contents[32:40], "little")


def _one(builder):
    """Add a balance of 1 MIST."""
    right = builder.withdrawal(1, SUI)
    return builder.move_call(SUI_FRAMEWORK, "balance", "redeem_funds", [right], [SUI])
