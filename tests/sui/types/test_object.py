import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import (
    OBJECT,
    OBJECT_TYPE,
    OWNER,
    AddressOwner,
    Linkage,
    MoveObject,
    MovePackage,
    Object,
    Shared,
    TypeOrigin,
)
from nexus_tools.sui.types.type_tag import GAS_COIN, STRUCT_TAG, SUI, TYPE_TAG, parse_struct_tag

# A coin of mainnet, from the tests of MystenLabs/sui-rust-sdk.
MAINNET_COIN = bytes.fromhex(
    "000101204f2b000000000028235fafd59757cebe23834f23fe160fb5286c1c4d44e56bfebfa0c4ba2a027a353485c7"
    "3a00000000004fffd0005522be4bc029724c7f0f6ed7093a6bf3a09b90e62f61dc15181e1a3e2011c5c02640ad8e8f"
    "316f0fd35c5430a0f366e5fdfb89d26577ade4338d140f5560130f0000000000"
)
BALANCE_FIELD = (
    "0x2::dynamic_field::Field<0x2::accumulator::Key<0x2::balance::Balance<{}>>,"
    "0x2::accumulator::U128>"
)


def test_coin_of_mainnet_round_trips():
    coin = OBJECT.decode(MAINNET_COIN)
    assert coin.type == GAS_COIN
    assert coin.version == 0x2B4F20
    assert coin.id == Address(MAINNET_COIN[12:44])
    assert isinstance(coin.owner, AddressOwner)
    assert coin.storage_rebate == 988_000
    assert coin.encode() == MAINNET_COIN


def test_object_id_follows_from_the_contents():
    coin = OBJECT.decode(MAINNET_COIN).data
    other = replace(coin, contents=bytes(31) + b"\7" + coin.contents[32:])
    assert (other.id, coin.id) == (Address.of(7), Address(MAINNET_COIN[12:44]))
    assert other != coin


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("0x2::coin::Coin<0x2::sui::SUI>", "01"),
        ("0x3::staking_pool::StakedSui", "02"),
        ("0x2::coin::Coin<u8>", "0301"),
        (BALANCE_FIELD.format("0x2::sui::SUI"), "04"),
        (BALANCE_FIELD.format("u8"), "0501"),
    ],
)
def test_common_types_have_short_forms(text, encoded):
    tag = parse_struct_tag(text)
    assert OBJECT_TYPE.encode(tag).hex() == encoded
    assert OBJECT_TYPE.decode(bytes.fromhex(encoded)) == tag


def test_other_types_are_encoded_in_full():
    assert OBJECT_TYPE.encode(SUI) == b"\0" + TYPE_TAG.encode(SUI)[1:]


@pytest.mark.parametrize(
    "written",
    [
        b"\6",  # there are variants 0 to 5
        b"\x16" + STRUCT_TAG.encode(parse_struct_tag("0x2::clock::Clock")),
        b"\0" + STRUCT_TAG.encode(GAS_COIN),
        b"\0" + STRUCT_TAG.encode(parse_struct_tag("0x2::coin::Coin<0x5::fud::FUD>")),
        b"\3" + TYPE_TAG.encode(SUI),
    ],
)
def test_type_has_one_form(written):
    with pytest.raises(BcsError, match="MoveObjectType"):
        OBJECT_TYPE.decode(written)


@pytest.mark.parametrize("text", ["0x2::coin::Coin", "0x2::dynamic_field::Field<u8>"])
def test_type_with_other_parameters_is_encoded_in_full(text):
    tag = parse_struct_tag(text)
    assert OBJECT_TYPE.encode(tag) == b"\0" + STRUCT_TAG.encode(tag)
    assert OBJECT_TYPE.decode(OBJECT_TYPE.encode(tag)) == tag


def test_shared_owner_contains_its_initial_version():
    assert OWNER.encode(Shared(1)).hex() == "020100000000000000"


def test_reference_is_id_version_and_digest():
    coin = OBJECT.decode(MAINNET_COIN)
    reference = coin.reference()
    assert (reference.object_id, reference.version) == (coin.id, coin.version)
    assert reference.digest == coin.digest()


def objects(strategies):
    moves = st.builds(
        MoveObject,
        strategies.struct_tags | st.just(GAS_COIN),
        st.booleans(),
        strategies.u64,
        st.binary(min_size=32, max_size=50),
    )
    packages = st.builds(
        MovePackage,
        strategies.addresses,
        strategies.u64,
        strategies.tuples(st.tuples(strategies.names, strategies.raw)),
        strategies.tuples(
            st.builds(TypeOrigin, strategies.names, strategies.names, strategies.addresses)
        ),
        strategies.tuples(
            st.builds(Linkage, strategies.addresses, strategies.addresses, strategies.u64)
        ),
    )
    return st.builds(
        Object, moves | packages, strategies.owners, strategies.digests, strategies.u64
    )


@given(st.data())
def test_objects_round_trip_and_keep_their_digests(strategies, data):
    value = data.draw(objects(strategies))
    again = OBJECT.decode(value.encode())
    assert again == value
    assert again.digest() == value.digest()


@given(st.data())
def test_damaged_object_differs_or_is_refused(strategies, data):
    encoded = bytearray(data.draw(objects(strategies)).encode())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        value = OBJECT.decode(bytes(encoded))
    except BcsError:
        return
    assert value.encode() == encoded


@given(st.integers(0, len(MAINNET_COIN) - 1))
def test_truncated_object_is_refused(length):
    with pytest.raises(BcsError):
        OBJECT.decode(MAINNET_COIN[:length])


def test_package_has_no_object_type():
    package = MovePackage(Address.of(5), 1, (), (), ())
    value = Object(package, Shared(1), Digest(bytes(32)), 0)
    assert value.type is None
    assert value.id == Address.of(5)
