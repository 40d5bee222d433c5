import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.execution import TransactionRefused
from nexus_tools.sui.localnet.execution.inputs.funds import (
    available_for_gas,
    balance_of,
    can_pay_from_balance,
    uses_gas_coin,
)
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal, accumulator_id
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.expiration import NoExpiration, ValidDuring
from nexus_tools.sui.types.object import AddressOwner, MoveObject, Object, ObjectOwner
from nexus_tools.sui.types.transaction import InputArgument, ProgrammableTransaction
from nexus_tools.sui.types.type_tag import SUI, balance_tag, parse_struct_tag

USD = parse_struct_tag("0x7::usd::USD")
BRIEF = ValidDuring(3, 4, None, None, Digest(bytes(32)), 0)


def endow(world, owner, amount, coin_type=SUI):
    """Put a balance into the store like a settlement."""
    object_id = accumulator_id(owner, balance_tag(coin_type))
    contents = bytes(object_id) + bytes(owner) + amount.to_bytes(16, "little")
    tag = parse_struct_tag(
        f"0x2::dynamic_field::Field<0x2::accumulator::Key<{balance_tag(coin_type)}>,"
        "0x2::accumulator::U128>"
    )
    data = MoveObject(tag, has_public_transfer=False, version=1, contents=contents)
    world.store.put(Object(data, ObjectOwner(ACCUMULATOR_ROOT), world.GENESIS, 0))


def balance_paid(world, builder, *, budget=50_000_000, expiration=BRIEF):
    data = world.data(builder, payment=(), budget=budget)
    return replace(data, expiration=expiration)


def refused(world, data):
    with pytest.raises(TransactionRefused) as refusal:
        world.execute(data)
    return refusal.value.code, refusal.value.message


def test_balance_is_read_by_owner_and_type(world):
    endow(world, world.ALICE, 2**64 + 5)
    endow(world, world.ALICE, 7, USD)
    assert balance_of(world.store, world.ALICE, SUI) == 2**64 + 5
    assert balance_of(world.store, world.ALICE, USD) == 7
    assert balance_of(world.store, world.BOB, SUI) == 0


def test_gas_cannot_use_the_amounts_that_commands_may_withdraw(world, build):
    endow(world, world.ALICE, 100)
    endow(world, world.ALICE, 1_000, USD)
    build.withdrawal(30, SUI)
    build.withdrawal(50, SUI)
    build.withdrawal(900, USD)
    assert available_for_gas(balance_paid(world, build), world.store) == 20


def test_gas_coin_may_be_named_in_any_command(world, build):
    assert not uses_gas_coin(balance_paid(world, build))
    build.make_move_vec([build.gas], None)
    assert uses_gas_coin(balance_paid(world, build))


def test_balance_pays_if_it_is_sufficient_and_replay_is_impossible(world, build):
    endow(world, world.ALICE, 50_000_000)
    assert can_pay_from_balance(balance_paid(world, build), world.store)
    assert not can_pay_from_balance(balance_paid(world, build, budget=50_000_001), world.store)
    lasting = balance_paid(world, build, expiration=NoExpiration())
    assert not can_pay_from_balance(lasting, world.store)
    build.resolved(world.argument(world.coin(world.ALICE, 1)))
    owning = balance_paid(world, build, expiration=NoExpiration())
    assert can_pay_from_balance(owning, world.store)


# --- Refusals


@pytest.mark.parametrize(
    ("withdrawal", "reason"),
    [
        (FundsWithdrawal(0, SUI, 0), "Balance withdraw reservation amount must be non-zero"),
        (FundsWithdrawal(1, SUI, 1), "Explicit sponsor withdrawals are not yet supported"),
    ],
)
def test_withdrawal_must_be_positive_and_the_senders(world, withdrawal, reason):
    data = world.data(ProgrammableTransaction((withdrawal,), ()))
    assert refused(world, data) == (
        "invalid_withdraw_reservation",
        f"Invalid withdraw reservation: {reason}",
    )


def test_at_most_ten_withdrawals_including_gas_are_allowed(world, build):
    endow(world, world.ALICE, 100_000_000)
    for _ in range(10):
        build.withdrawal(1, SUI)
    assert world.run(build)  # the gas is paid with a coin
    code, message = refused(world, balance_paid(world, build))
    assert code == "invalid_withdraw_reservation"
    assert message.endswith("Maximum number of balance withdraw reservations is 10")


def test_coins_of_other_types_do_not_pay_gas(world, build):
    endow(world, world.ALICE, 100_000_000, USD)
    code, message = refused(world, balance_paid(world, build))
    assert code == "invalid_withdraw_reservation"
    assert "requires 50000000 but only 0 is available" in message


def test_replayable_transaction_is_refused(world, build):
    endow(world, world.ALICE, 100_000_000)
    data = balance_paid(world, build, expiration=NoExpiration())
    code, message = refused(world, data)
    assert code == "invalid_expiration"
    assert message == (
        "Invalid transaction expiration: Transactions must either have address-owned inputs, or a"
        " ValidDuring expiration with at most two epochs of validity"
    )


# --- The right to withdraw as a value


def call(build, module, function, arguments, types=(SUI,)):
    return build.move_call(SUI_FRAMEWORK, module, function, arguments, types)


def test_withdrawal_contains_owner_and_amount(world, build):
    endow(world, world.ALICE, 30)
    right = build.withdrawal(30, SUI)
    funds = (balance_tag(SUI),)
    call(build, "funds_accumulator", "withdrawal_owner", [right], funds)
    assert world.returned(build) == [bytes(world.ALICE)]
    call(build, "funds_accumulator", "withdrawal_limit", [right], funds)
    assert world.returned(build) == [(30).to_bytes(32, "little")]


def test_withdrawal_may_be_used_up_or_unused(world, build):
    endow(world, world.ALICE, 30)
    build.withdrawal(10, SUI)
    right = build.withdrawal(10, SUI)
    coin = call(build, "coin", "redeem_funds", [right])
    build.transfer_objects([coin], world.BOB)
    world.succeed(build)
    call(build, "coin", "redeem_funds", [right])
    error, command = world.fail_argument(build)
    assert (error.argument, error.kind.name, command) == (0, "ARGUMENT_WITHOUT_VALUE", 2)


def test_withdrawal_has_one_coin_type(world, build):
    endow(world, world.ALICE, 30, USD)
    call(build, "coin", "redeem_funds", [build.withdrawal(10, USD)])
    error, _ = world.fail_argument(build)
    assert (error.argument, error.kind.name) == (0, "TYPE_MISMATCH")


def test_withdrawal_is_not_an_object(world, build):
    endow(world, world.ALICE, 30)
    build.transfer_objects([build.withdrawal(10, SUI)], world.BOB)
    error, _ = world.fail_argument(build)
    assert (error.argument, error.kind.name) == (0, "INVALID_TRANSFER_OBJECT")


def test_withdrawals_of_one_owner_can_be_joined(world, build):
    endow(world, world.ALICE, 30)
    whole, part = build.withdrawal(10, SUI), build.withdrawal(20, SUI)
    call(build, "funds_accumulator", "withdrawal_join", [whole, part], (balance_tag(SUI),))
    build.transfer_objects([call(build, "coin", "redeem_funds", [whole])], world.BOB)
    written = world.succeed(build).written.values()
    (coin,) = (value for value in written if value.owner == AddressOwner(world.BOB))
    assert world.balance(coin.id) == 30


def test_address_can_pay_itself(world, build):
    endow(world, world.ALICE, 30)
    funds = call(build, "balance", "redeem_funds", [build.withdrawal(10, SUI)])
    call(build, "balance", "send_funds", [funds, build.address(Address(world.ALICE))])
    assert build.finish().inputs[0] == FundsWithdrawal(10, SUI, 0)
    assert InputArgument(0) in build.finish().commands[0].arguments
    world.succeed(build)
