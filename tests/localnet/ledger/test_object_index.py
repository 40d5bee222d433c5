from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.localnet.ledger.object_index import ObjectIndex, is_instance
from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import GAS_COIN, SUI, StructTag, coin_tag

OWNER = Address.of(0xA)
USD_COIN = coin_tag(StructTag(Address.of(0x77), "usd", "USD"))
ANY_COIN = StructTag(GAS_COIN.address, "coin", "Coin")


def page(index, type_filter=None, after=None, limit=None):
    ids = index.page(OWNER, type_filter, None if after is None else Address.of(after), limit)
    return [int.from_bytes(value, "big") for value in ids]


def filled():
    index = ObjectIndex()
    for number, tag in [(9, GAS_COIN), (2, USD_COIN), (5, SUI), (1, GAS_COIN)]:
        index.add(OWNER, tag, Address.of(number))
    return index


def test_ids_come_in_ascending_order_over_all_types():
    assert page(filled()) == [1, 2, 5, 9]


def test_a_filter_with_type_arguments_means_that_type_alone():
    assert page(filled(), GAS_COIN) == [1, 9]


def test_a_filter_without_type_arguments_means_all_instantiations():
    assert page(filled(), ANY_COIN) == [1, 2, 9]


def test_a_page_begins_behind_an_id_even_if_that_object_is_gone():
    index = filled()
    index.remove(OWNER, USD_COIN, Address.of(2))
    assert page(index, after=2, limit=1) == [5]


def test_an_unknown_key_has_an_empty_page():
    assert list(filled().page(Address.of(0xB), None, None, None)) == []


def test_a_type_without_parameters_is_no_instance_of_one_with_others():
    assert not is_instance(USD_COIN, GAS_COIN)
    assert not is_instance(SUI, ANY_COIN)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 60))
def test_pages_agree_with_a_sorted_set_whatever_was_added_and_removed(added, removed, after):
    index = ObjectIndex()
    for number in added:
        index.add(OWNER, GAS_COIN if number % 2 else USD_COIN, Address.of(number))
    for number in removed & added:
        index.remove(OWNER, GAS_COIN if number % 2 else USD_COIN, Address.of(number))
    left = sorted(added - removed)
    assert page(index) == left
    assert page(index, after=after, limit=3) == [number for number in left if number > after][:3]
