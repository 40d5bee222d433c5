import pytest

from nexus_tools.errors import WrongStateError
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.ledger import CoinBalance, Snapshot
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import Immutable, MovePackage, Object, ObjectOwner
from nexus_tools.sui.types.type_tag import SUI, StructTag

ALICE, BOB = Address.of(0xA), Address.of(0xB)
TOOL = StructTag(Address.of(0x77), "tool", "Tool")


def balance_of(value):
    return int.from_bytes(value.data.contents[32:], "little")


def test_revert_undoes_every_kind_of_change(chain, ledger):
    chain.commit(chain.coin(1, 100), chain.coin(2, 50), chain.move_object(3, TOOL))
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 10), chain.coin(4, 90, BOB), removed=[2])
    chain.commit(chain.move_object(3, TOOL, ObjectOwner(Address.of(1))), events=[chain.event(TOOL)])
    ledger.revert(snapshot)
    assert balance_of(ledger.get(Address.of(1))) == 100
    assert balance_of(ledger.get(Address.of(2))) == 50
    assert [value.id for value in ledger.owned_by(ALICE)] == [Address.of(n) for n in (1, 2, 3)]
    assert ledger.get(Address.of(4)) is None
    assert ledger.children_of(Address.of(1)) == []
    assert ledger.events() == []


def test_revert_restores_balances(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 10), chain.coin(4, 90, BOB))
    ledger.revert(snapshot)
    assert ledger.balance(ALICE, SUI) == CoinBalance(100, 1)
    assert ledger.balance(BOB, SUI) == CoinBalance(0, 0)


def test_reverted_transaction_and_checkpoint_are_forgotten(chain, ledger):
    genesis = chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    reverted = chain.commit(chain.coin(1, 10))
    ledger.revert(snapshot)
    assert ledger.latest == genesis
    assert ledger.checkpoint_by_digest(reverted.digest) is None
    assert ledger.transaction(reverted.transactions[0].digest) is None
    assert ledger.get_version(Address.of(1), 2) is None


def test_reverted_transaction_can_be_executed_again(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    (executed,) = chain.commit(chain.coin(1, 10)).transactions
    ledger.revert(snapshot)
    chain.commit_all([executed])
    assert balance_of(ledger.get(Address.of(1))) == 10


def test_snapshot_can_be_reverted_to_any_number_of_times(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    for balance in (1, 2, 3):
        chain.commit(chain.coin(1, balance))
        ledger.revert(snapshot)
        assert balance_of(ledger.get(Address.of(1))) == 100


def test_checkpoint_of_a_snapshot_is_not_read_again(chain, ledger):
    head = chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 10))
    ledger.revert(snapshot)
    assert ledger.latest is head


def test_snapshot_with_only_number_and_digest_is_sufficient(chain, ledger):
    head = chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 10))
    ledger.revert(Snapshot(snapshot.checkpoint, snapshot.digest))
    assert ledger.latest == head
    assert balance_of(ledger.get(Address.of(1))) == 100


def test_nested_snapshots_are_reverted_in_order(chain, ledger):
    chain.commit(chain.coin(1, 100))
    outer = ledger.snapshot()
    chain.commit(chain.coin(1, 60))
    inner = ledger.snapshot()
    chain.commit(chain.coin(1, 30))
    ledger.revert(inner)
    assert balance_of(ledger.get(Address.of(1))) == 60
    ledger.revert(outer)
    assert balance_of(ledger.get(Address.of(1))) == 100


def test_inner_snapshot_is_invalid_after_a_revert_to_the_outer_one(chain, ledger):
    chain.commit(chain.coin(1, 100))
    outer = ledger.snapshot()
    chain.commit(chain.coin(1, 60))
    inner = ledger.snapshot()
    ledger.revert(outer)
    chain.commit(chain.coin(1, 61))
    with pytest.raises(WrongStateError) as caught:
        ledger.revert(inner)
    assert caught.value.code == "snapshot_not_found"
    assert balance_of(ledger.get(Address.of(1))) == 61


def test_revert_directly_after_the_snapshot_changes_nothing(chain, ledger):
    genesis = chain.commit(chain.coin(1, 100))
    ledger.revert(ledger.snapshot())
    assert ledger.latest == genesis
    assert balance_of(ledger.get(Address.of(1))) == 100


def test_wrapped_object_is_wrapped_again_after_a_revert(chain, ledger):
    chain.commit(chain.coin(1, 100), chain.coin(2, 5))
    chain.commit(chain.coin(2, 5), removed=[1])
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 100), chain.coin(2, 5))
    ledger.revert(snapshot)
    assert ledger.get(Address.of(1)) is None


def test_later_package_is_unknown_after_a_revert(chain, ledger):
    chain.commit(chain.coin(5, 100))
    snapshot = ledger.snapshot()
    modules = tuple(
        (str(i), data) for i, data in enumerate(load_framework()[Address.of(1)].modules)
    )
    package = MovePackage(Address.of(1), 1, modules, (), ())
    chain.commit(Object(package, Immutable(), Digest(bytes(32)), 0))
    ledger.revert(snapshot)
    assert ledger.package_versions(Address.of(1)) == ()
