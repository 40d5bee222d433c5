import pytest

from nexus_tools.sui.localnet.execution import TransactionRefused
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import OwnedObject, ReceivingObject, SharedObject
from nexus_tools.sui.types.type_tag import coin_tag, parse_type_tag


def refused(world, builder, **options):
    """Return the code and the message of a refused transaction, which changes nothing."""
    before = dict(world.store.live)
    with pytest.raises(TransactionRefused) as refusal:
        world.run(builder, **options)
    assert world.store.live == before
    return refusal.value.code, refusal.value.message


def transaction_with(*arguments):
    builder = TransactionBuilder()
    for argument in arguments:
        builder.resolved(argument)
    builder.split_coins(builder.gas, [1])
    return builder


def test_missing_object_is_not_found(world):
    reference = ObjectReference(Address.of(99), 4, Digest(bytes(32)))
    code, message = refused(world, transaction_with(OwnedObject(reference)))
    assert code == "object_not_found"
    assert message == (
        f"Could not find the referenced object {Address.of(99)} at version Some(SequenceNumber(4))"
    )


def test_old_version_is_not_available_for_consumption(world, build):
    coin = world.coin(world.ALICE, 5)
    old = world.argument(coin)
    build.transfer_objects([build.resolved(old)], world.ALICE)
    world.succeed(build)
    code, message = refused(world, transaction_with(old))
    assert code == "object_version_unavailable_for_consumption"
    assert "is not available for consumption, its current version: SequenceNumber(2)" in message
    assert str(coin) in message


def test_wrong_digest_is_refused(world):
    reference = world.argument(world.coin(world.ALICE, 5)).reference
    wrong = ObjectReference(reference.object_id, reference.version, Digest(bytes(32)))
    code, message = refused(world, transaction_with(OwnedObject(wrong)))
    assert code == "invalid_object_digest"
    assert message.endswith(f"Expected digest : {reference.digest}")


def test_object_of_another_owner_is_refused(world):
    coin = world.coin(world.BOB, 5)
    code, message = refused(world, transaction_with(world.argument(coin)))
    assert code == "incorrect_user_signature"
    assert f"is owned by account address {world.BOB}" in message


def test_shared_object_cannot_be_used_as_owned(probed):
    reference = probed.store.get(probed.box).reference()
    assert refused(probed, transaction_with(OwnedObject(reference)))[0] == "not_shared_object_error"


def test_owned_object_cannot_be_used_as_shared(world):
    coin = world.coin(world.ALICE, 5)
    argument = SharedObject(coin, 1, mutable=True)
    assert refused(world, transaction_with(argument)) == (
        "not_shared_object_error",
        "Object used as shared is not shared",
    )


def test_shared_object_needs_its_initial_version(probed):
    argument = SharedObject(probed.box, 999, mutable=True)
    code, _ = refused(probed, transaction_with(argument))
    assert code == "shared_object_starting_version_mismatch"


def test_deleted_shared_object_is_not_found(world):
    argument = SharedObject(Address.of(99), 1, mutable=True)
    assert refused(world, transaction_with(argument))[0] == "object_not_found"


def test_dynamic_field_cannot_be_an_input(probed, build):
    thing = probed.new_thing()
    probed.call(
        build, "add_field", [build.resolved(probed.argument(thing)), *map(build.u64, (1, 2))]
    )
    result = probed.succeed(build)
    field = next(v for v in result.written.values() if v.type.name == "Field")
    code, message = refused(probed, transaction_with(OwnedObject(field.reference())))
    assert code == "invalid_child_object_argument"
    assert f"is owned by object {thing}" in message


def test_package_cannot_be_an_object_input(world):
    package = world.store.get(Address.of(2)).reference()
    assert refused(world, transaction_with(OwnedObject(package)))[0] == "move_package_as_object"


def test_object_cannot_be_a_package(world, build):
    coin = world.coin(world.ALICE, 5)
    build.move_call(coin, "probe", "nothing")
    assert refused(world, build)[0] == "move_object_as_package"


def test_missing_package_is_refused(world, build):
    build.move_call(Address.of(99), "probe", "nothing")
    assert refused(world, build) == (
        "dependent_package_not_found",
        f"Dependent package not found on-chain: {Address.of(99)}",
    )


def test_user_cannot_change_the_clock(world):
    argument = SharedObject(CLOCK, 1, mutable=True)
    assert refused(world, transaction_with(argument))[0] == "immutable_parameter_expected_error"


def test_object_can_be_named_only_once(world):
    argument = world.argument(world.coin(world.ALICE, 5))
    kind = transaction_with(argument).finish()
    twice = type(kind)((*kind.inputs, argument), kind.commands)
    assert refused(world, twice) == (
        "duplicate_object_ref_input",
        "The transaction inputs contain duplicated ObjectRef's",
    )


def test_received_object_cannot_also_be_an_input(probed):
    child = probed.new_thing(1, owner=probed.new_thing(2))
    reference = probed.store.get(child).reference()
    kind = transaction_with(ReceivingObject(reference)).finish()
    twice = type(kind)((*kind.inputs, OwnedObject(reference)), kind.commands)
    assert refused(probed, twice)[0] == "duplicate_object_ref_input"


def test_received_object_needs_its_current_version(probed):
    child = probed.new_thing(1, owner=probed.new_thing(2))
    reference = probed.store.get(child).reference()
    old = ObjectReference(child, reference.version - 1, reference.digest)
    code, _ = refused(probed, transaction_with(ReceivingObject(old)))
    assert code == "object_version_unavailable_for_consumption"


def test_gas_coin_cannot_also_be_an_input(world):
    code, message = refused(world, transaction_with(world.argument(world.gas)))
    assert code == "mutable_object_used_more_than_once"
    assert str(world.gas) in message


def test_gas_coin_can_be_named_only_once(world):
    code, _ = refused(world, transaction_with(), payment=(world.gas, world.gas))
    assert code == "mutable_object_used_more_than_once"


# --- Payment


def test_commands_have_no_gas_coin_without_payment(world):
    code, message = refused(world, transaction_with(), payment=())
    assert code == "unsupported"
    assert "gas coin" in message


def test_gas_must_be_paid_in_sui(world):
    coin = world.coin(world.ALICE, 9 * world.SUI, coin_tag(parse_type_tag("0x2::clock::Clock")))
    code, message = refused(world, transaction_with(), payment=(coin,))
    assert (code, message) == ("invalid_gas_object", f"Object {coin} is not a gas object")


def test_gas_must_be_paid_from_coins_of_the_payer(world):
    coin = world.coin(world.BOB, 9 * world.SUI)
    assert refused(world, transaction_with(), payment=(coin,))[0] == "incorrect_user_signature"


def test_coins_must_cover_the_budget(world):
    coin = world.coin(world.ALICE, world.SUI)
    code, message = refused(world, transaction_with(), payment=(coin,), budget=world.SUI + 1)
    assert code == "gas_balance_too_low"
    assert message == (
        "Balance of gas object 1000000000 is lower than the needed amount: 1000000001"
    )


@pytest.mark.parametrize(
    ("budget", "code", "bound"),
    [
        (999_999, "gas_budget_too_low", 1_000_000),
        (50_000_000_000_001, "gas_budget_too_high", 50_000 * 10**9),
    ],
)
def test_budget_is_limited(world, budget, code, bound):
    refusal = refused(world, transaction_with(), budget=budget)
    assert refusal[0] == code
    assert str(bound) in refusal[1]


def test_minimum_budget_grows_with_the_price(world):
    code, message = refused(world, transaction_with(), budget=1_000_000, price=1_001)
    assert (code, message) == (
        "gas_budget_too_low",
        "Gas budget: 1000000 is lower than min: 1001000",
    )


def test_price_is_at_least_the_reference_price(world):
    code, message = refused(world, transaction_with(), price=999)
    assert (code, message) == (
        "gas_price_under_rgp",
        "Gas price 999 under reference gas price (RGP) 1000",
    )
