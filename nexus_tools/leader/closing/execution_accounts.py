"""Accounts of executions and their owners: fees paid to this leader, minus gas that it spent.

Anyone can start an execution and name any leader. The leader pays first, because a request costs
gas and the fee is paid only when the invocation is closed. An execution may therefore owe the
leader a limited amount, and an additional amount for each open invocation. The same limit applies
to all executions of one owner together, because one transaction can start many executions.

The accounts are kept in memory. A restart resets them, and so does a change of the process that
works on executions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cachetools import LRUCache

from nexus_tools.contracts import Deployment, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation, InvocationRequested
from nexus_tools.leader.closing.workers import Worker
from nexus_tools.sui.client import Executed, SimulatedTransaction
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import SUI

# The gas units for each of many requests in a transaction. The invocation's fee later covers them.
_UNITS_PER_OPEN = 250
# The gas units for a single request in a transaction. The fee of a failed invocation covers more
# gas units than that, so an owner may have any number of open invocations.
_UNITS_PER_OPEN_OF_OWNER = 1_250
# The gas units for failing an attempt in its own transaction, including storage.
_UNITS_PER_FAILURE = 1_150
_MAX_ACCOUNTS = 65_536


@dataclass(slots=True)
class _Account:
    balance_mist: int = 0
    open: int = 0
    is_trusted: bool = True


class _Accounts(LRUCache[Address, _Account]):
    """The most recently used accounts, by address."""

    def of(self, holder: Address) -> _Account:
        """Return the account of an address, or create it."""
        return self.setdefault(holder, _Account())


class ExecutionAccounts:
    """The accounts that decide whether an execution may cost more than it pays.

    `max_unpaid_units` is the number of gas units that an execution, or all executions of one owner
    together, may owe. `price` returns the current gas price.
    """

    def __init__(
        self,
        deployment: Deployment,
        leader: Address,
        max_unpaid_units: int,
        price: Callable[[], int],
    ) -> None:
        self._deployment = deployment
        self._leader = leader
        self._max_unpaid_units = max_unpaid_units
        self._price = price
        self._executions = _Accounts(_MAX_ACCOUNTS)
        self._owners = _Accounts(_MAX_ACCOUNTS)
        self._owner_of: LRUCache[Address, Address] = LRUCache(_MAX_ACCOUNTS)
        self._open: dict[Address, Address] = {}

    def reset(self) -> None:
        """Forget all accounts."""
        for accounts in (self._executions, self._owners, self._owner_of, self._open):
            accounts.clear()

    def set_owner(self, execution: Address, owner: Address) -> None:
        """Record the owner of an execution. The owner's account then includes its debts."""
        self._owner_of[execution] = owner

    def covers(self, execution: Address, worker: Worker, simulated: SimulatedTransaction) -> bool:
        """Return whether a transaction earns its cost, or the execution may owe the difference."""
        requested = sum(1 for _ in self._requested(simulated))
        return self.allows(execution, margin_mist(worker, simulated), requested)

    def covers_batch(
        self,
        executions: Sequence[Address | None],
        worker: Worker,
        simulated: SimulatedTransaction,
    ) -> bool:
        """Return whether the fees of closings cover their cost, or may leave a debt.

        Only a single closing may leave a debt. `executions` has one element for each closing.
        """
        if len(executions) == 1 and executions[0] is not None:
            return self.covers(executions[0], worker, simulated)
        return len(executions) == 1 or margin_mist(worker, simulated) >= 0

    def allows(self, execution: Address, margin_mist: int, requested: int = 0) -> bool:
        """Return whether the balance of an execution may change by `margin_mist`.

        `requested` is the number of requests to this leader in the same transaction.
        """
        return margin_mist >= 0 or self.room_mist(execution, requested) + margin_mist >= 0

    def room_mist(self, execution: Address, requested: int = 0) -> int:
        """Return the amount that an execution may still cost beyond its payments, in MIST."""
        own, *owners = self._accounts_of(execution)
        credits_mist = [self._account_credit_mist(own, requested, _UNITS_PER_OPEN)]
        credits_mist += [
            self._account_credit_mist(account, requested, _UNITS_PER_OPEN_OF_OWNER)
            for account in owners
        ]
        return min(credits_mist)

    def _account_credit_mist(self, account: _Account, requested: int, units_per_open: int) -> int:
        units = self._max_unpaid_units + (account.open + requested) * units_per_open
        return account.balance_mist + units * self._price()

    def has_earned(self, execution: Address, margin_mist: int) -> bool:
        """Return whether the balance of the execution's owner covers a change without credit."""
        *_, account = self._accounts_of(execution)
        return account.balance_mist + margin_mist >= 0

    # --- Transactions that are not simulated

    def guarantor(self, executions: Sequence[Address | None], budget_mist: int) -> Address | None:
        """Return the owner whose earlier fees cover the loss if a transaction fails, or None.

        All executions must belong to that owner, because the account of one owner never pays for
        another owner. The owner's balance must cover the budget, which is the maximum cost of the
        transaction. If the transaction fails, the earlier fees cover the loss of this leader.
        """
        owners = {self._owner_of.get(execution) for execution in executions if execution}
        if None in executions or len(owners) != 1:
            return None
        [owner] = owners
        if owner is None:
            return None
        account = self._owners.of(owner)
        return owner if account.is_trusted and account.balance_mist >= budget_mist else None

    @contextmanager
    def reserve_budget(self, owner: Address, budget_mist: int) -> Iterator[None]:
        """Reserve the budget of a transaction until the context ends."""
        account = self._owners.of(owner)
        account.balance_mist -= budget_mist
        try:
            yield
        finally:
            account.balance_mist += budget_mist

    def distrust(self, owner: Address) -> None:
        """Simulate all transactions of an owner from now on, because one of them lost money."""
        self._owners.of(owner).is_trusted = False

    # --- Simulated transactions

    @contextmanager
    def reserve(
        self, execution: Address | None, worker: Worker, simulated: SimulatedTransaction | None
    ) -> Iterator[None]:
        """Reserve the credit that a simulated transaction needs, until the context ends.

        The reservation prevents concurrent transactions from using the same credit.
        """
        lost_mist = requested = 0
        accounts: list[_Account] = []
        if execution is not None and simulated is not None:
            accounts = self._accounts_of(execution)
            lost_mist = max(0, -margin_mist(worker, simulated))
            requested = sum(1 for _ in self._requested(simulated))
        for account in accounts:
            account.balance_mist -= lost_mist
            account.open += requested
        try:
            yield
        finally:
            for account in accounts:
                account.balance_mist += lost_mist
                account.open -= requested

    def allows_failure(self, invocation: Invocation) -> bool:
        """Return whether the failure fee or the execution's credit covers the gas of a failure."""
        attempt = invocation.attempt
        cost_mist = _UNITS_PER_FAILURE * self._price() - invocation.fail_fee_mist
        return attempt is None or self.allows(attempt.execution, -cost_mist)

    def record(
        self, executions: Sequence[Address | None], worker: Worker, executed: Executed
    ) -> None:
        """Divide the gain or loss of a transaction equally among the accounts of executions.

        None represents an invocation without an execution, whose part is not recorded.
        """
        for execution in executions:
            if execution is not None:
                part = margin_mist(worker, executed) // len(executions)
                for account in self._accounts_of(execution):
                    account.balance_mist += part
        for event in self._requested(executed):
            assert event.attempt is not None
            self._open[event.invocation] = event.attempt.execution
            for account in self._accounts_of(event.attempt.execution):
                account.open += 1

    def closed(self, invocation: Address) -> None:
        """Record that an invocation is closed, so that its fee is no longer expected."""
        execution = self._open.pop(invocation, None)
        if execution is not None:
            for account in self._accounts_of(execution):
                account.open = max(0, account.open - 1)

    def _accounts_of(self, execution: Address) -> list[_Account]:
        """Return the account of an execution, and the account of its owner if known."""
        owner = self._owner_of.get(execution)
        own = self._executions.of(execution)
        return [own] if owner is None else [own, self._owners.of(owner)]

    def _requested(self, result: Executed | SimulatedTransaction) -> Iterable[InvocationRequested]:
        """Yield the requests of attempts that name this leader first, which then earns the fee."""
        for raw_event in result.events:
            event = parse_event(self._deployment, raw_event)
            if (
                isinstance(event, InvocationRequested)
                and event.attempt is not None
                and not event.is_closable_by_anyone
                and event.leaders[:1] == (self._leader,)
            ):
                yield event


def margin_mist(worker: Worker, result: Executed | SimulatedTransaction) -> int:
    """Return the change of a worker's address balance in a transaction, in MIST after gas."""
    return result.effects.address_balance_change(worker.address, SUI)
