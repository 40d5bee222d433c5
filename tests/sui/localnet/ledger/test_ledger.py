import tracemalloc

import pytest
from msgspec.structs import force_setattr

from nexus_tools.errors import NexusError, ValidationError, WrongStateError
from nexus_tools.sui.bytecode import MalformedModule
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.ledger import (
    BalanceChange,
    Checkpoint,
    CoinBalance,
    Ledger,
    listing_sort_key,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import Immutable, MovePackage, Object, ObjectOwner, Shared
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI, StructTag, coin_tag, parse_struct_tag

ALICE, BOB = Address.of(0xA), Address.of(0xB)
TOOL = StructTag(Address.of(0x77), "tool", "Tool")


def balance_of(value):
    return int.from_bytes(value.data.contents[32:], "little")


def numbers(objects):
    return [int.from_bytes(value.id, "big") for value in objects]


# --- Objects and versions


def test_get_returns_the_current_version(chain, ledger):
    chain.commit(chain.coin(1, 100))
    chain.commit(chain.coin(1, 60))
    assert balance_of(ledger.get(Address.of(1))) == 60


@pytest.mark.long
def test_unused_object_takes_less_than_300_bytes_of_memory(chain, ledger):
    def commit(count):
        first = chain.count * 100 + 1
        for number in range(first, first + count * 100, 100):
            chain.commit(*(chain.coin(number + place, 7) for place in range(100)))

    tracemalloc.start()
    try:
        commit(70)  # the cache has the last 4096 objects and the last 64 transactions
        before, _ = tracemalloc.get_traced_memory()
        commit(50)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 50 * 100 * 300
    assert balance_of(ledger.get(Address.of(1))) == 7


def test_object_outside_the_cache_can_be_changed_and_removed(chain, ledger):
    chain.commit(chain.coin(1, 100), chain.coin(2, 50), chain.coin(3, 20))
    for first in range(1_000, 6_000, 100):
        chain.commit(*(chain.coin(number, 1, BOB) for number in range(first, first + 100)))
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 60), removed=[2])
    assert numbers(ledger.owned_by(ALICE)) == [1, 3]
    assert ledger.balance(ALICE, SUI) == CoinBalance(80, 2)
    ledger.revert(snapshot)
    assert numbers(ledger.owned_by(ALICE)) == [1, 2, 3]
    assert ledger.balance(ALICE, SUI) == CoinBalance(170, 3)
    assert len(ledger.owned_by(BOB)) == 5_000


def test_every_past_version_is_readable(chain, ledger):
    for balance in (100, 60, 30):
        chain.commit(chain.coin(1, balance))
    found = [balance_of(ledger.get_version(Address.of(1), version)) for version in (1, 2, 3)]
    assert found == [100, 60, 30]


def test_get_version_returns_none_for_an_unknown_version(chain, ledger):
    chain.commit(chain.coin(1, 100))
    assert ledger.get_version(Address.of(1), 2) is None
    assert ledger.get_version(Address.of(1), 2**64 - 1) is None
    assert ledger.get_version(Address.of(2), 1) is None


def test_removed_object_is_missing_now_and_at_its_removal_version(chain, ledger):
    chain.commit(chain.coin(1, 100))
    chain.commit(removed=[1])
    assert ledger.get(Address.of(1)) is None
    assert ledger.get_version(Address.of(1), 2) is None
    assert balance_of(ledger.get_version(Address.of(1), 1)) == 100


def test_wrapped_object_reappears_at_a_later_version(chain, ledger):
    chain.commit(chain.coin(1, 100))
    chain.commit(chain.coin(2, 5), removed=[1])
    chain.commit(chain.coin(1, 100), chain.coin(2, 5))
    assert ledger.get(Address.of(1)).version == 3
    assert ledger.get_version(Address.of(1), 2) is None


# --- Indexes


def test_owned_objects_are_paged_with_the_largest_coins_first_and_then_by_id(chain, ledger):
    chain.commit(*[chain.coin(*item) for item in [(5, 10), (3, 30), (8, 10), (1, 20)]])
    first = ledger.owned_by(ALICE, limit=2)
    assert numbers(first) == [3, 1]
    place = listing_sort_key(first[-1].data)
    assert numbers(ledger.owned_by(ALICE, after=place, limit=2)) == [5, 8]


def test_owned_objects_are_grouped_by_type(chain, ledger):
    usd = coin_tag(StructTag(Address.of(0x77), "usd", "USD"))
    objects = [chain.move_object(1, TOOL), chain.coin(2, 1, coin_tag=usd), chain.coin(3, 9)]
    chain.commit(*objects, chain.coin(4, 8))
    order = [3, 4, 2, 1]  # 0x2::coin::Coin of 0x2 and of 0x77, then a type of another package
    assert numbers(ledger.owned_by(ALICE)) == order
    for count, number in enumerate(order, 1):
        place = listing_sort_key(ledger.get(Address.of(number)).data)
        assert numbers(ledger.owned_by(ALICE, after=place)) == order[count:]


def test_owned_objects_are_filtered_by_exact_type_or_by_name(chain, ledger):
    usd = coin_tag(StructTag(Address.of(0x77), "usd", "USD"))
    chain.commit(chain.coin(1, 1), chain.coin(2, 1, coin_tag=usd), chain.move_object(3, TOOL))
    assert numbers(ledger.owned_by(ALICE, usd)) == [2]
    assert numbers(ledger.owned_by(ALICE, StructTag(GAS_COIN.address, "coin", "Coin"))) == [1, 2]


def test_transferred_object_moves_in_the_index(chain, ledger):
    chain.commit(chain.coin(1, 1, ALICE))
    chain.commit(chain.coin(1, 1, BOB))
    assert ledger.owned_by(ALICE) == []
    assert numbers(ledger.owned_by(BOB)) == [1]


def test_shared_and_immutable_objects_do_not_belong_to_an_address(chain, ledger):
    chain.commit(chain.move_object(1, TOOL, Shared(1)), chain.move_object(2, TOOL, Immutable()))
    assert numbers(map(ledger.get, [Address.of(1), Address.of(2)])) == [1, 2]
    assert ledger.owned_by(Address.of(0)) == []


def test_currency_objects_are_found_by_type_for_any_owner(chain, ledger):
    metadata = parse_struct_tag("0x2::coin::CoinMetadata<0x77::usd::USD>")
    chain.commit(*(chain.move_object(number, metadata, Immutable()) for number in (2, 1)))
    chain.commit(chain.move_object(1, metadata, BOB))
    assert numbers(ledger.describing(metadata)) == [1, 2]
    chain.commit(removed=[1])
    assert numbers(ledger.describing(metadata)) == [2]


def test_children_are_found_by_parent_and_are_not_owned_objects(chain, ledger):
    parent = Address.of(0x50)
    children = [chain.move_object(number, TOOL, ObjectOwner(parent)) for number in (2, 1)]
    chain.commit(*children)
    assert numbers(ledger.children_of(parent)) == [1, 2]
    assert numbers(ledger.children_of(parent, after=Address.of(1))) == [2]
    assert ledger.owned_by(parent) == []


def test_balances_sum_up_coins_and_follow_changes(chain, ledger):
    chain.commit(chain.coin(1, 100), chain.coin(2, 50))
    assert ledger.balance(ALICE, SUI) == CoinBalance(150, 2)
    chain.commit(chain.coin(1, 70), chain.coin(3, 30, BOB))
    assert ledger.balance(ALICE, SUI) == CoinBalance(120, 2)
    chain.commit(removed=[2])
    assert dict(ledger.balances(ALICE)) == {SUI: CoinBalance(70, 1)}
    assert dict(ledger.balances(BOB)) == {SUI: CoinBalance(30, 1)}
    assert ledger.balance(Address.of(0xC), SUI) == CoinBalance(0, 0)


def test_package_versions_are_found_by_the_original_id(chain, ledger):
    modules = tuple(
        (str(i), data) for i, data in enumerate(load_framework()[Address.of(1)].modules)
    )
    first = MovePackage(Address.of(1), 1, modules, (), ())
    second = MovePackage(Address.of(0x99), 2, modules, (), ())
    for package in (first, second):
        chain.commit(Object(package, Immutable(), Digest(bytes(32)), 0))
    assert ledger.package_versions(Address.of(1)) == (first, second)
    assert ledger.package_versions(Address.of(0x99)) == ()


# --- Chain


def test_checkpoints_are_found_by_number_and_digest(chain, ledger):
    genesis, second = chain.commit(chain.coin(1, 1)), chain.commit(chain.coin(1, 2))
    assert ledger.checkpoint(0) == genesis
    assert ledger.checkpoint(1) == ledger.latest == second
    assert ledger.checkpoint_by_digest(genesis.digest) == genesis
    assert ledger.summary(0) == genesis.summary
    assert ledger.checkpoint(2) is None
    assert ledger.checkpoint(2**64 - 1) is None
    assert ledger.checkpoint_by_digest(Digest(bytes(32))) is None


def test_checkpoint_names_its_predecessor_and_sums_up_transactions_and_gas(chain):
    genesis = chain.commit(chain.coin(1, 1))
    second = chain.commit_all([chain.transaction(), chain.transaction()])
    assert second.summary.previous_digest == genesis.summary.digest()
    assert second.summary.network_total_transactions == 3
    assert second.summary.epoch_rolling_gas_cost_summary.computation_cost == 3_000_000
    assert second.summary.content_digest == second.contents.digest()


def test_transaction_is_read_back_as_committed(chain, ledger):
    chain.commit(chain.coin(1, 100), events=[chain.event(TOOL)], timestamp_ms=77)
    committed = chain.commit(chain.coin(1, 60), chain.coin(2, 30, BOB), timestamp_ms=88)
    (executed,) = committed.transactions
    ledger._recent.clear()
    read = ledger.transaction(executed.digest)
    assert read == executed
    assert read.timestamp_ms == 88
    assert read.balance_changes == (BalanceChange(ALICE, SUI, -40), BalanceChange(BOB, SUI, 30))


def test_transactions_are_listed_in_chain_order(chain, ledger):
    chain.commit(chain.coin(1, 1))
    pair = [chain.transaction(), chain.transaction()]
    chain.commit_all(pair)
    assert [transaction.digest for transaction in ledger.transactions(1, 5)] == [
        item.digest for item in pair
    ]
    assert [transaction.index_in_checkpoint for transaction in ledger.transactions(0, 3)] == [
        0,
        0,
        1,
    ]


def test_transactions_of_one_checkpoint_may_depend_on_each_other(chain, ledger):
    first = chain.transaction([chain.coin(1, 100)])
    second = chain.transaction([chain.coin(1, 40, BOB)], earlier=first.output_objects)
    chain.commit_all([first, second])
    assert ledger.get(Address.of(1)).version == 2
    assert ledger.balance(BOB, SUI) == CoinBalance(40, 1)


def test_empty_ledger_has_no_latest_checkpoint(ledger):
    assert ledger.is_empty
    with pytest.raises(WrongStateError) as caught:
        _ = ledger.latest
    assert caught.value.code == "genesis_missing"


# --- All or nothing


def test_checkpoint_that_does_not_follow_is_refused(chain, ledger):
    genesis = chain.commit(chain.coin(1, 1))
    with pytest.raises(ValidationError) as caught:
        ledger.apply(Checkpoint.after(None, genesis.transactions, 0))
    assert caught.value.code == "checkpoint_invalid"


def test_duplicate_transaction_changes_nothing(chain, ledger):
    (executed,) = chain.commit(chain.coin(1, 1)).transactions
    with pytest.raises(ValidationError) as caught:
        ledger.apply(Checkpoint.after(ledger.latest, [executed], 0))
    assert caught.value.code == "state_conflict"
    assert ledger.latest.number == 0
    assert ledger.checkpoint(1) is None


def test_object_missing_in_the_effects_is_refused_without_changes(chain, ledger):
    chain.commit(chain.coin(1, 1))
    executed = chain.transaction([chain.coin(1, 5)])
    force_setattr(executed, "output_objects", (*executed.output_objects, chain.coin(2, 5)))
    with pytest.raises(ValidationError) as caught:
        chain.commit_all([executed])
    assert caught.value.code == "checkpoint_invalid"
    assert balance_of(ledger.get(Address.of(1))) == 1
    assert ledger.get(Address.of(2)) is None


def test_unreadable_package_is_refused_without_changes(chain, ledger):
    chain.commit(chain.coin(1, 1))
    package = MovePackage(Address.of(0x99), 1, (("broken", b"\xa1\x1c"),), (), ())
    with pytest.raises(MalformedModule):
        chain.commit(chain.coin(1, 5), Object(package, Immutable(), Digest(bytes(32)), 0))
    assert balance_of(ledger.get(Address.of(1))) == 1
    assert ledger.checkpoint(1) is None


def test_full_disk_refuses_the_checkpoint_without_changes(chain, ledger):
    genesis = chain.commit(chain.coin(1, 1))
    ((pages,),) = ledger._state.rows("PRAGMA page_count")
    ledger._state.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(NexusError) as caught:
        chain.commit(chain.move_object(2, TOOL, rest=bytes(100_000)), chain.coin(1, 5))
    assert caught.value.code == "state_write_failed"
    assert ledger.latest == genesis
    assert balance_of(ledger.get(Address.of(1))) == 1
    assert ledger.get(Address.of(2)) is None


# --- Settings


def test_setting_is_stored_until_it_is_replaced():
    ledger = Ledger()
    assert ledger.setting("key") is None
    ledger.set_setting("key", b"\1")
    ledger.set_setting("key", b"\2")
    assert ledger.setting("key") == b"\2"
    ledger.close()
