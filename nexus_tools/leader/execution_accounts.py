"""The account of each execution: what it has paid this leader, less the gas that it has cost.

Anyone can begin an execution and name any leader. The leader pays first: a request costs gas, and
the fee comes when the invocation is closed. So an execution may owe the leader a little, and more
for each open invocation whose fee is still to come. The leader does nothing that would make it owe
more than that. Accounts are in memory: a start forgets them, and with them what is owed.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nexus_tools.client import Executed, Simulated
from nexus_tools.leader.workers import Worker
from nexus_tools.package import Deployment, parse_event
from nexus_tools.package.move.invocation import Invocation, InvocationRequested
from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import SUI

# The gas units that requesting one of many invocations takes; its fee pays them later.
_UNITS_PER_OPEN = 250
# To fail an attempt with a transaction of its own, storage included.
_UNITS_PER_FAILURE = 1_150
_MOST_ACCOUNTS = 65_536


@dataclass(slots=True)
class _Account:
    balance_mist: int = 0
    open: int = 0


class ExecutionAccounts:
    """Decides whether an execution may cost more than it pays.

    `max_unpaid_units` are the gas units that it may owe; `price` returns the gas price of today.
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
        self._accounts: OrderedDict[Address, _Account] = OrderedDict()
        self._open: dict[Address, Address] = {}

    def covers(self, execution: Address, worker: Worker, simulated: Simulated) -> bool:
        """Return whether a transaction pays for itself, or the execution may owe its cost."""
        requested = sum(1 for _ in self._requested(simulated))
        return self.allows(execution, margin_mist(worker, simulated), requested)

    def allows(self, execution: Address, margin_mist: int, requested: int = 0) -> bool:
        """Return whether an execution may change its account by so much.

        `requested` is the number of invocations that the change requests from this leader.
        """
        return margin_mist >= 0 or self._room_mist(execution, requested) + margin_mist >= 0

    def allows_failure(self, invocation: Invocation) -> bool:
        """Return whether this leader may fail an invocation: not every attempt pays for that."""
        attempt = invocation.attempt
        cost_mist = _UNITS_PER_FAILURE * self._price() - invocation.fail_fee_mist
        return attempt is None or self.allows(attempt.execution, -cost_mist)

    def note(
        self, executions: Sequence[Address | None], worker: Worker, executed: Executed
    ) -> None:
        """Add the gain or loss of a transaction to the accounts, an equal part to each.

        A part is nobody's where there is no execution.
        """
        for execution in executions:
            if execution is not None:
                part = margin_mist(worker, executed) // len(executions)
                self._of(execution).balance_mist += part
        for event in self._requested(executed):
            assert event.attempt is not None
            self._open[event.invocation] = event.attempt.execution
            self._of(event.attempt.execution).open += 1

    def closed(self, invocation: Address) -> None:
        """Expect no fee for an invocation any more."""
        execution = self._open.pop(invocation, None)
        if execution is not None and execution in self._accounts:
            self._accounts[execution].open -= 1

    def _room_mist(self, execution: Address, requested: int = 0) -> int:
        """Return what an execution may cost now beyond what it pays for that."""
        account = self._accounts.get(execution) or _Account()
        units = self._max_unpaid_units + (account.open + requested) * _UNITS_PER_OPEN
        return account.balance_mist + units * self._price()

    def _requested(self, result: Executed | Simulated) -> Iterable[InvocationRequested]:
        """The attempts that it requests of which this leader is sure to get the fee."""
        for each in result.events:
            event = parse_event(self._deployment, each)
            if (
                isinstance(event, InvocationRequested)
                and event.attempt is not None
                and event.leaders[:1] == (self._leader,)
            ):
                yield event

    def _of(self, execution: Address) -> _Account:
        account = self._accounts.setdefault(execution, _Account())
        self._accounts.move_to_end(execution)
        if len(self._accounts) > _MOST_ACCOUNTS:
            self._accounts.popitem(last=False)
        return account


def margin_mist(worker: Worker, result: Executed | Simulated) -> int:
    """Return what a transaction brings a worker, less its gas."""
    return result.effects.address_balance_change(worker.address, SUI)
