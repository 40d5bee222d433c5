import pytest

from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, Address
from nexus_tools.sui.types.address_balance import (
    AddressBalance,
    accumulator_id,
    address_balance,
    coin_type_of,
    withdrawal_tag,
)
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, MoveObject, Object, ObjectOwner
from nexus_tools.sui.types.type_tag import (
    GAS_COIN,
    SUI,
    Primitive,
    balance_tag,
    parse_struct_tag,
    parse_type_tag,
)

ALICE, BOB = Address.of(0xA11CE), Address.of(0xB0B)
FIELD = (
    "0x2::dynamic_field::Field<0x2::accumulator::Key<0x2::balance::Balance<0x2::sui::SUI>>,"
    " 0x2::accumulator::U128>"
)


# Ids by `deriveDynamicFieldID` of @mysten/sui 2.33.1.
@pytest.mark.parametrize(
    ("owner", "coin_type", "expected"),
    [
        (
            ALICE,
            "0x2::sui::SUI",
            "c5074a9caa5c48da64430a4a6ebff458b1db3909a04b8b04ec2060c9485958f3",
        ),
        (BOB, "0x2::sui::SUI", "5ef57f287386c02ed7362a29036c8898244fc0e840358e1fdb76d0c0d0062b64"),
        (
            ALICE,
            "0xcafe::usd::USD",
            "66f0d740ed3990069f10c33f66d39292594f8670fc8988b7f9b5d553f90ffdc5",
        ),
    ],
)
def test_owner_and_coin_type_determine_the_balance_id(owner, coin_type, expected):
    assert accumulator_id(owner, balance_tag(parse_type_tag(coin_type))).hex() == expected


def field(tag=FIELD, owner=ObjectOwner(ACCUMULATOR_ROOT)):  # noqa: B008 - immutable
    contents = bytes(32) + bytes(ALICE) + (7).to_bytes(16, "little")
    data = MoveObject(
        parse_struct_tag(tag), has_public_transfer=False, version=1, contents=contents
    )
    return Object(data, owner, Digest(bytes(32)), 0)


def test_accumulator_field_names_the_owner_of_its_balance():
    assert address_balance(field()) == AddressBalance(ALICE, SUI, 7)


@pytest.mark.parametrize(
    "other",
    [
        field(owner=ObjectOwner(Address.of(0xACD))),
        field(owner=AddressOwner(ACCUMULATOR_ROOT)),
        field(FIELD.replace("accumulator::U128", "accumulator_metadata::Owner")),
        field(FIELD.replace("0x2::balance::Balance<0x2::sui::SUI>", "0x2::sui::SUI")),
    ],
)
def test_other_objects_are_not_balances(other):
    assert address_balance(other) is None


def test_types_of_funds_and_withdrawals():
    assert str(balance_tag(SUI)) == f"{Address.of(2)}::balance::Balance<{SUI}>"
    withdrawal = f"{Address.of(2)}::funds_accumulator::Withdrawal<{balance_tag(SUI)}>"
    assert str(withdrawal_tag(SUI)) == withdrawal
    assert coin_type_of(balance_tag(SUI)) == SUI
    assert coin_type_of(GAS_COIN) is coin_type_of(Primitive.U64) is coin_type_of(SUI) is None
