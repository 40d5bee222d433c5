import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.localnet.ledger.object_index import (
    ObjectIndex,
    is_instance,
    listing_sort_key,
    place_of,
    type_sort_key,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject
from nexus_tools.sui.types.type_tag import (
    GAS_COIN,
    SUI,
    StructTag,
    coin_tag,
    parse_struct_tag,
)

OWNER = Address.of(0xA)
USD_COIN = coin_tag(StructTag(Address.of(0x77), "usd", "USD"))
ANY_COIN = StructTag(GAS_COIN.address, "coin", "Coin")
BEGINNING = b""


def page(index, type_filter=None, after=BEGINNING, limit=None):
    return [number_of(value) for value in index.page(OWNER, type_filter, after, limit)]


def number_of(object_id):
    return int.from_bytes(object_id, "big")


def data_of(number, tag=SUI, balance=0):
    contents = Address.of(number) + balance.to_bytes(8, "little")
    return MoveObject(tag, has_public_transfer=True, version=1, contents=contents)


def filled_index():
    index = ObjectIndex()
    for data in DATA:
        index.add(OWNER, data.type, place_of(data))
    return index


DATA = [data_of(9, GAS_COIN, 50), data_of(2, USD_COIN, 90), data_of(5), data_of(1, GAS_COIN, 70)]


def test_objects_are_grouped_by_type_with_the_largest_coins_first():
    assert page(filled_index()) == [
        5,
        1,
        9,
        2,
    ]  # the name of the module `sui` is shorter than `coin`


def test_filter_with_type_arguments_matches_only_that_type():
    assert page(filled_index(), GAS_COIN) == [1, 9]


def test_filter_without_type_arguments_matches_all_instantiations():
    assert page(filled_index(), ANY_COIN) == [1, 9, 2]


def test_page_starts_after_a_place_even_if_its_object_is_removed():
    index = filled_index()
    index.remove(OWNER, GAS_COIN, place_of(DATA[0]))
    assert page(index, after=listing_sort_key(DATA[0]), limit=1) == [2]


def test_unknown_owner_has_an_empty_page():
    assert list(filled_index().page(Address.of(0xB), None, BEGINNING, None)) == []


def test_type_without_parameters_is_not_an_instance_of_one_with_parameters():
    assert not is_instance(USD_COIN, GAS_COIN)
    assert not is_instance(SUI, ANY_COIN)


def test_types_are_ordered_by_address_names_and_parameters():
    in_order = [
        "0x2::zoo::Animal",
        "0x2::coin::Coin<u8>",
        "0x2::coin::Coin<u64>",
        "0x2::coin::Coin<address>",
        "0x2::coin::Coin<vector<u8>>",
        "0x2::coin::Coin<0x2::sui::SUI>",
        "0x2::coin::Coin<0x77::usd::USD>",
        "0x2::coin::Coin<u16>",
        "0x2::coin::Coin<u8, u8>",
        "0x2::kiosk::Kiosk",
        "0x2::kiosk::KioskOwnerCap",
        "0x2::token::Token",
        "0x3::a::A",
    ]
    tags = list(map(parse_struct_tag, in_order))
    assert sorted(set(tags), key=type_sort_key) == tags


@pytest.mark.parametrize(
    ("tag", "key"),
    [
        (SUI, f"{2:064x}{3:016x}{b'sui'.hex()}{3:016x}{b'SUI'.hex()}{0:016x}"),
        (
            parse_struct_tag("0x2::a::B<vector<u16>>"),
            f"{2:064x}{1:016x}{b'a'.hex()}{1:016x}{b'B'.hex()}{1:016x}{6:08x}{8:08x}",
        ),
    ],
)
def test_type_order_equals_the_order_of_fixed_size_keys(tag, key):
    assert type_sort_key(tag).hex() == key


@given(
    st.dictionaries(st.integers(0, 60), st.integers(0, 3)),
    st.sets(st.integers(0, 60)),
    st.integers(0, 60),
)
def test_pages_match_a_sorted_list_after_any_changes(added, removed, after):
    index, left = ObjectIndex(), []
    data = {
        number: data_of(number, GAS_COIN if number % 2 else USD_COIN, balance)
        for number, balance in added.items()
    }
    for entry in data.values():
        index.add(OWNER, entry.type, place_of(entry))
    for number in removed & added.keys():
        index.remove(OWNER, data[number].type, place_of(data[number]))
    # Coins of 0x2 are before those of 0x77.
    left = sorted((n % 2 == 0, -b, n) for n, b in added.items() if n not in removed)
    assert page(index) == [number for _, _, number in left]
    begin = (after % 2 == 0, -1, after)
    place = listing_sort_key(data_of(after, GAS_COIN if after % 2 else USD_COIN, 1))
    assert page(index, after=place, limit=3) == [item[2] for item in left if item > begin][:3]
