from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

ONE, TWO = Address.of(1), Address.of(2)


def balance_of(value):
    return int.from_bytes(value.data.contents[32:], "little")


def before(ledger, checkpoint, place=0):
    """Return the objects before a transaction of a checkpoint."""
    return ledger.objects_before(checkpoint.transactions[place].digest)


def test_past_objects_show_the_state_before_a_transaction(chain, ledger):
    commits = [chain.commit(chain.coin(1, balance)) for balance in (100, 60, 30)]
    first, second, third = (before(ledger, commit).get(ONE) for commit in commits)
    assert first is None
    assert [balance_of(second), balance_of(third)] == [100, 60]


def test_removed_object_is_missing_until_it_reappears(chain, ledger):
    chain.commit(chain.coin(1, 100))
    removal = chain.commit(chain.coin(2, 5), removed=[1])
    empty = chain.commit(chain.coin(2, 5))
    chain.commit(chain.coin(1, 70), chain.coin(2, 5))
    last = chain.commit(chain.coin(2, 6))
    assert balance_of(before(ledger, removal).get(ONE)) == 100
    assert before(ledger, empty).get(ONE) is None
    assert balance_of(before(ledger, last).get(ONE)) == 70


def test_transactions_of_one_checkpoint_see_each_other(chain, ledger):
    one = chain.transaction([chain.coin(1, 100)])
    two = chain.transaction([chain.coin(1, 60)], earlier=one.output_objects)
    checkpoint = chain.commit_all([one, two])
    assert before(ledger, checkpoint, 0).get(ONE) is None
    assert balance_of(before(ledger, checkpoint, 1).get(ONE)) == 100


def test_later_versions_are_not_visible(chain, ledger):
    chain.commit(chain.coin(1, 100))
    second = chain.commit(chain.coin(1, 60))
    past = before(ledger, second)
    assert balance_of(past.get_version(ONE, 1)) == 100
    assert past.get_version(ONE, 2) is None
    assert balance_of(ledger.get_version(ONE, 2)) == 60


def test_repeated_reads_return_the_same_object(chain, ledger):
    chain.commit(chain.coin(1, 100))
    past = before(ledger, chain.commit(chain.coin(2, 5)))
    assert past.get(ONE) is past.get(ONE)
    assert past.get(TWO) is None


def test_unknown_transaction_has_no_past_objects(chain, ledger):
    chain.commit(chain.coin(1, 100))
    assert ledger.objects_before(Digest(bytes(32))) is None


def test_reverted_transaction_has_no_past_objects(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    gone = chain.commit(chain.coin(1, 60))
    ledger.revert(snapshot)
    assert before(ledger, gone) is None
