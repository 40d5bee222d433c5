from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

ONE, TWO = Address.of(1), Address.of(2)


def balance_of(value):
    return int.from_bytes(value.data.contents[32:], "little")


def before(ledger, checkpoint, place=0):
    """The objects before a transaction of a checkpoint."""
    return ledger.objects_before(checkpoint.transactions[place].digest)


def test_a_transaction_finds_what_the_one_before_it_left(chain, ledger):
    commits = [chain.commit(chain.coin(1, balance)) for balance in (100, 60, 30)]
    first, second, third = (before(ledger, each).get(ONE) for each in commits)
    assert first is None
    assert [balance_of(second), balance_of(third)] == [100, 60]


def test_what_was_removed_is_not_there_until_it_comes_back(chain, ledger):
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


def test_versions_that_were_made_later_are_not_there(chain, ledger):
    chain.commit(chain.coin(1, 100))
    second = chain.commit(chain.coin(1, 60))
    past = before(ledger, second)
    assert balance_of(past.get_version(ONE, 1)) == 100
    assert past.get_version(ONE, 2) is None
    assert balance_of(ledger.get_version(ONE, 2)) == 60


def test_an_object_is_the_same_each_time_that_it_is_read(chain, ledger):
    chain.commit(chain.coin(1, 100))
    past = before(ledger, chain.commit(chain.coin(2, 5)))
    assert past.get(ONE) is past.get(ONE)
    assert past.get(TWO) is None


def test_an_unknown_transaction_has_no_past(chain, ledger):
    chain.commit(chain.coin(1, 100))
    assert ledger.objects_before(Digest(bytes(32))) is None


def test_a_transaction_that_was_taken_back_has_no_past(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    gone = chain.commit(chain.coin(1, 60))
    ledger.revert(snapshot)
    assert before(ledger, gone) is None
