"""Accounts of authors of on-chain tools: the payments for calls, minus the gas of the calls.

A function can succeed in the simulation and fail in the transaction. The leader then loses the gas,
and the author decides how often this happens. The gas budgets of concurrent calls therefore must
not exceed the author's credit: the payments for earlier calls, plus an amount that every author may
owe. An author's debts never expire.

Two objects identify an author, and each object has an account: the name of the tool, which all its
versions share, and the Move package that defines its witness. A new identity needs two new objects.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.journal.journal import AuthorAccount, Journal
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import parse_struct_tag
from nexus_tools.tool import MoveFunction

_DAY_MS = 24 * 60 * 60 * 1000

Author = tuple[Address, Address]
"""A tool's name object, and the package that defines its witness."""


def author_of(tool: FoundTool, function: MoveFunction) -> Author:
    """Return the author of a tool with this function."""
    return tool.tool.name, parse_struct_tag(function.witness).address


@dataclass(slots=True)
class _Account:
    """An account of an author. `at_risk_mist` is the sum of the gas budgets in flight."""

    balance_mist: int = 0
    refused_until_ms: int = 0
    at_risk_mist: int = 0


class AuthorAccounts:
    """The accounts that decide whether and when the functions of an author may be called.

    `max_unpaid_mist` is the gas that an author may owe. `trusted` is the package of nexus_tools.
    Its tools do not have an account, because their functions are trusted. With an account, an
    attacker could block every wait in a workflow by making calls of these tools fail.
    """

    def __init__(
        self, journal: Journal, clock: ChainClock, max_unpaid_mist: int, trusted: Address
    ) -> None:
        self._trusted = trusted
        self._journal = journal
        self._clock = clock
        self._max_unpaid_mist = max_unpaid_mist
        self._accounts: defaultdict[Address, _Account] = defaultdict(_Account)
        self._changed = asyncio.Condition()

    async def load(self) -> None:
        """Load the accounts that this leader recorded in the journal."""
        stored = await self._journal.tool_accounts()
        for key in self._accounts.keys() | stored.keys():
            account = stored.get(key, AuthorAccount(0, 0))
            self._accounts[key].balance_mist = account.balance_mist
            self._accounts[key].refused_until_ms = account.refused_until_ms
        async with self._changed:
            self._changed.notify_all()

    def trusts(self, author: Author) -> bool:
        """Return whether the tools of an author need no account."""
        return author[1] == self._trusted

    def refusal(self, author: Author, budget_mist: int = 0) -> str | None:
        """Return the reason why a call with this budget is currently not allowed, or None.

        The method ignores budgets in flight.
        """
        for account in self._accounts_of(author):
            if self._clock.now_ms() < account.refused_until_ms:
                return "this leader lost gas to the tool's author and blocks the author for a day"
            if account.balance_mist + self._max_unpaid_mist < max(1, budget_mist):
                limit_mist = max(0, account.balance_mist + self._max_unpaid_mist)
                return (
                    f"a call may cost {budget_mist} MIST of gas, but this leader advances at most"
                    f" {limit_mist} MIST for the tool's author"
                )
        return None

    @asynccontextmanager
    async def reservation(self, author: Author) -> AsyncIterator["Reservation"]:
        """Yield a reservation for one call, which ends when the context exits."""
        reservation = Reservation(self, author)
        try:
            yield reservation
        finally:
            await self.reserve(reservation, 0)

    def has_room(self, author: Author, more_mist: int) -> bool:
        """Return whether the credit covers `more_mist` in addition to the budgets in flight."""
        return all(
            account.balance_mist + self._max_unpaid_mist - account.at_risk_mist >= more_mist
            for account in self._accounts_of(author)
        )

    async def reserve(self, reservation: "Reservation", mist: int) -> str | None:
        """Wait until a reservation can be changed to `mist`, or return why it is refused."""
        async with self._changed:
            self.risk(reservation, 0)
            self._changed.notify_all()
            await self._changed.wait_for(
                lambda: (
                    not mist
                    or self.refusal(reservation.author, mist)
                    or self.has_room(reservation.author, mist)
                )
            )
            refusal = self.refusal(reservation.author, mist) if mist else None
            if refusal is None:
                self.risk(reservation, mist)
            return refusal

    def risk(self, reservation: "Reservation", mist: int) -> None:
        """Set the amount of a reservation without checking the credit."""
        for account in self._accounts_of(reservation.author):
            account.at_risk_mist += mist - reservation.mist
        reservation.mist = mist

    async def record(self, author: Author, margin_mist: int, *, is_failure: bool = False) -> None:
        """Add the payment for a call, minus its cost, to the accounts of the author.

        A failure blocks the author for a day. The method returns after the journal's commit.
        """
        changes = {}
        for key, account in zip(author, self._accounts_of(author), strict=False):
            account.balance_mist += margin_mist
            if is_failure:
                account.refused_until_ms = self._clock.now_ms() + _DAY_MS
            changes[key] = AuthorAccount(margin_mist, account.refused_until_ms)
        await self._journal.save_tool_accounts(changes)

    def _accounts_of(self, author: Author) -> tuple[_Account, ...]:
        return () if self.trusts(author) else tuple(self._accounts[key] for key in author)


@dataclass(slots=True)
class Reservation:
    """The reserved gas budget of one call, which the leader may lose."""

    _accounts: AuthorAccounts
    author: Author
    mist: int = 0

    def covers(self, budget_mist: int) -> bool:
        """Reserve the budget of a call if it is available now, and return whether it was."""
        if self._accounts.refusal(self.author, budget_mist) is not None:
            return False
        more_mist = budget_mist - self.mist
        if more_mist > 0:
            if not self._accounts.has_room(self.author, more_mist):
                return False
            self._accounts.risk(self, budget_mist)
        return True

    async def wait(self, budget_mist: int) -> str | None:
        """Wait until the budget is reserved, or return why the call is refused."""
        return await self._accounts.reserve(self, budget_mist)
