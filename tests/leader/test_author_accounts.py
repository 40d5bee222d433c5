"""Accounts of authors and executions when another process becomes responsible for them."""

import pytest

from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.executions.author_accounts import AuthorAccounts
from nexus_tools.leader.journal.journal import AuthorAccount, Journal
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

NAME, PACKAGE, TRUSTED = map(Address.of, (1, 2, 3))
AUTHOR = (NAME, PACKAGE)
EXECUTION, OWNER = map(Address.of, (4, 5))
DAY_MS = 24 * 60 * 60 * 1000


class StoppedClock:
    def now_ms(self):
        return 1_000


@pytest.fixture
async def journal(config):
    journal = await Journal.open(config.journal, "identity")
    yield journal
    await journal.close()


@pytest.fixture
def accounts_of(journal):
    """Return a factory of the accounts of one process."""
    return lambda: AuthorAccounts(journal, StoppedClock(), 100, TRUSTED)


async def test_changes_of_two_processes_add_up(journal, accounts_of):
    one, two = accounts_of(), accounts_of()
    await one.record(AUTHOR, 50)
    await two.record(AUTHOR, -20)
    await two.record(AUTHOR, -1, is_failure=True)
    await one.record(AUTHOR, 5)
    expected = AuthorAccount(34, 1_000 + DAY_MS)
    assert await journal.tool_accounts() == {NAME: expected, PACKAGE: expected}


async def test_loaded_accounts_replace_balances_but_not_budgets_in_flight(accounts_of):
    one, two = accounts_of(), accounts_of()
    await one.record(AUTHOR, 50)
    async with two.reservation(AUTHOR) as reservation:
        assert reservation.covers(100)
        assert not two.has_room(AUTHOR, 1)
        await two.load()
        assert two.has_room(AUTHOR, 50)
        assert not two.has_room(AUTHOR, 51)
    assert two.has_room(AUTHOR, 150)
    await two.load()
    assert two.has_room(AUTHOR, 150)


def test_reset_forgets_the_accounts_of_executions():
    accounts = ExecutionAccounts(None, Address.of(6), 1_500, lambda: 1)
    accounts.set_owner(EXECUTION, OWNER)
    with accounts.reserve_budget(OWNER, 5):
        assert not accounts.has_earned(EXECUTION, 0)
        accounts.reset()
        accounts.set_owner(EXECUTION, OWNER)
        assert accounts.has_earned(EXECUTION, 0)
    assert not accounts.has_earned(EXECUTION, -1)
