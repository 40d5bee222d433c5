import sqlite3
from contextlib import closing

import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.ledger import STATE_FILE_NAME, EventPosition, Ledger, State
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import effects_digest
from nexus_tools.sui.types.effects import Absent, IdOperation, ObjectChange

ONE, TWO, THREE = (Address.of(number) for number in (1, 2, 3))
PAGE = 8


class ObservedState(State):
    """A database that counts SQLite's instructions."""

    def __init__(self):
        super().__init__()
        self.instructions = 0
        self._connection.set_progress_handler(self.count, 1)

    def count(self):
        self.instructions += 1


def read(ledger, *ids, **options):
    options = {"start": EventPosition(0), "end": EventPosition(1_000_000), "limit": PAGE} | options
    found = ledger.transactions_affecting(ids, **options)
    return [transaction.checkpoint for transaction in found]


def unwritten(transaction, object_id):
    """Return a transaction whose effects also name an object that was created and wrapped."""
    change = ObjectChange(Absent(), Absent(), IdOperation.CREATED)
    changed = (*transaction.effects.changed_objects, (object_id, change))
    effects = replace(transaction.effects, changed_objects=changed)
    encoded, digest = effects.encode(), effects_digest(effects.encode())
    return replace(transaction, effects=effects, effects_bytes=encoded, effects_digest=digest)


@pytest.fixture
def history(chain, ledger):
    """Write, remove and restore the coins 1 and 2. Return the ledger."""
    chain.commit(chain.coin(1, 100))
    chain.commit(chain.coin(2, 5))
    chain.commit(chain.coin(1, 90), chain.coin(2, 6))
    chain.commit(removed=[1])
    chain.commit(chain.coin(2, 7))
    chain.commit(chain.coin(1, 80), chain.coin(2, 8))
    return ledger


def test_removals_are_changes(history):
    assert read(history, ONE) == [0, 2, 3, 5]
    assert read(history, ONE, descending=True) == [5, 3, 2, 0]


def test_transactions_of_several_objects_are_merged(history):
    assert read(history, ONE, TWO) == [0, 1, 2, 3, 4, 5]
    assert read(history, TWO, ONE, limit=4, descending=True) == [5, 4, 3, 2]


def test_object_without_changes_has_no_transactions(history):
    assert read(history, THREE) == []


@pytest.mark.parametrize("start", range(7))
@pytest.mark.parametrize("end", range(7))
@pytest.mark.parametrize("descending", [False, True])
def test_positions_limit_the_transactions(history, start, end, descending):
    bounds = {"start": EventPosition(start), "end": EventPosition(end)}
    found = read(history, ONE, **bounds, descending=descending)
    assert sorted(found) == [number for number in (0, 2, 3, 5) if start <= number < end]


def test_position_limits_transactions_within_a_checkpoint(chain, ledger):
    one = chain.transaction([chain.coin(1, 100)])
    two = chain.transaction([chain.coin(1, 60)], earlier=one.output_objects)
    chain.commit_all([one, two])
    middle = EventPosition(0, 1)
    [first] = ledger.transactions_affecting([ONE], start=EventPosition(0), end=middle, limit=PAGE)
    [second] = ledger.transactions_affecting(
        [ONE], start=middle, end=EventPosition(1), limit=PAGE, descending=True
    )
    assert (first.digest, second.digest) == (one.digest, two.digest)


def test_reverted_transactions_are_not_found(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    chain.commit(chain.coin(1, 90))
    ledger.revert(snapshot)
    assert read(ledger, ONE) == [0]


@pytest.mark.parametrize("descending", [False, True])
def test_page_costs_the_same_in_a_longer_history(chain_on, descending):
    state = ObservedState()
    with closing(Ledger(state)) as ledger:
        chain = chain_on(ledger)

        def cost(start, end):
            chain.commit_all([chain.transaction() for _ in range(start, end)])
            for balance in range(start, end):
                chain.commit(chain.coin(1, balance))
            state.instructions = 0
            middle = EventPosition(ledger.latest.number - 3)
            bounds = {"end": middle} if descending else {"start": EventPosition(3)}
            assert len(read(ledger, ONE, **bounds, descending=descending)) == PAGE
            return state.instructions

        short, long = cost(0, 32), cost(32, 1_024)
    # The binary search takes five more steps in a history that is 32 times as long.
    assert PAGE < long < 2 * short


def test_changes_are_indexed_when_an_older_database_is_opened(tmp_path, chain_on):
    with closing(Ledger.open(tmp_path)) as ledger:
        chain = chain_on(ledger)
        chain.commit(chain.coin(1, 100))
        chain.commit_all([unwritten(chain.transaction([chain.coin(1, 90)]), THREE)])
        assert read(ledger, THREE) == [1]
    with closing(sqlite3.connect(tmp_path / STATE_FILE_NAME)) as older:
        older.execute("DROP TABLE unwritten_changes")
        older.commit()
    with closing(Ledger.open(tmp_path)) as ledger:
        assert read(ledger, THREE) == [1]
        assert read(ledger, ONE) == [0, 1]


def test_reverted_unwritten_changes_are_not_found(chain, ledger):
    chain.commit(chain.coin(1, 100))
    snapshot = ledger.snapshot()
    chain.commit_all([unwritten(chain.transaction(), THREE)])
    assert read(ledger, THREE) == [1]
    ledger.revert(snapshot)
    assert read(ledger, THREE) == []
