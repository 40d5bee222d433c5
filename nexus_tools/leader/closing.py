"""Outcomes on their way to the chain: each one, and those of one transaction."""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nexus_tools.leader.assignment import Assignment
from nexus_tools.package import Deployment
from nexus_tools.registry import add_outcome
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import MAX_PURE_BYTES, TransactionBuilder
from nexus_tools.sui.transaction import (
    MergeCoins,
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)
from nexus_tools.tool import Answer, Outcome

# Ids, versions and indices of one closing in the bytes of a transaction, and of one port.
_BYTES = 400
_BYTES_PER_PORT = 100
_COMMANDS = 5
_COMMANDS_PER_PORT = 2
_EFFORT_PER_PORT = 8

# Bounds in gas units, and in MIST of storage per byte: what is not used is not paid. The storage of
# an invocation is paid anew with each change, and rebated for what it was before.
_UNITS = 10_000
_UNITS_PER_CLOSING = 100
_UNITS_PER_KILOBYTE = 60
_STORAGE_PER_CLOSING_MIST = 3_000_000
_STORAGE_PER_BYTE_MIST = 8_000


class Closed(StrEnum):
    """How an invocation was closed, as one leader sees it."""

    SETTLED = "settled"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another leader closed it, or it is gone."""
    MISSED = "missed"
    """Nobody may close it any more but by `expire`."""


@dataclass(frozen=True, slots=True)
class End:
    """How an invocation was closed, with what and for which fee where that is known here."""

    closed: Closed
    outcome: Outcome | None = None
    fee_mist: int | None = None


@dataclass(slots=True, eq=False)
class Closing:
    """An outcome on its way to the chain; `closed` is resolved when the invocation is closed."""

    assignment: Assignment
    outcome: Outcome
    outcome_bytes: int
    initial_version: int
    closed: asyncio.Future[Closed] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    setbacks: int = 0
    fee_mist: int | None = None

    @property
    def closes_as(self) -> Closed:
        """How the invocation is closed if this reaches the chain."""
        return Closed.SETTLED if isinstance(self.outcome, Answer) else Closed.FAILED

    @property
    def size(self) -> int:
        """About how many bytes of a transaction it takes; rather more."""
        return _BYTES + self._ports * _BYTES_PER_PORT + self.outcome_bytes

    @property
    def commands(self) -> int:
        """About how many commands it takes; rather more."""
        chunks = self.outcome_bytes // MAX_PURE_BYTES
        return _COMMANDS + self._ports * _COMMANDS_PER_PORT + chunks

    @property
    def effort(self) -> int:
        """How much the Move machine has to do, in comparisons of port names and the like."""
        return self._ports * (self._ports + _EFFORT_PER_PORT)

    @property
    def _ports(self) -> int:
        return len(self.outcome.ports) if isinstance(self.outcome, Answer) else 0

    def close(self, closed: Closed) -> None:
        """Tell who waits."""
        if not self.closed.done():
            self.closed.set_result(closed)


def budget_mist(closings: int, outcome_bytes: int, price: int) -> int:
    """What a transaction with so many closings may cost at this gas price."""
    units = _UNITS + closings * _UNITS_PER_CLOSING + outcome_bytes * _UNITS_PER_KILOBYTE // 1024
    storage = closings * _STORAGE_PER_CLOSING_MIST + outcome_bytes * _STORAGE_PER_BYTE_MIST
    return units * price + storage


class ClosingBatch:
    """Closings of one transaction, in its order; a command is traced back to its closing."""

    def __init__(
        self,
        deployment: Deployment,
        leaders: SharedObject,
        closings: Sequence[Closing],
    ) -> None:
        self.closings = tuple(closings)
        self._deployment = deployment
        self._leaders = leaders
        self._last_commands: list[int] = []

    def budget_mist(self, price: int) -> int:
        """What the transaction may cost at this gas price."""
        taken = sum(closing.outcome_bytes for closing in self.closings)
        return budget_mist(len(self.closings), taken, price)

    def build(self, cap: OwnedObject) -> ProgrammableTransaction:
        """Settle or fail one after the other; each fee goes to the gas coin."""
        builder = TransactionBuilder()
        for closing in self.closings:
            add_outcome(
                builder,
                self._deployment,
                closing.assignment.invocation,
                cap.reference.object_id,
                closing.outcome,
            )
        transaction = builder.finish(self._objects(cap))
        self._last_commands = [
            place
            for place, command in enumerate(transaction.commands)
            if isinstance(command, MergeCoins)
        ]
        return transaction

    def closing_of(self, command: int | None) -> Closing | None:
        """The closing that a command belongs to; None if it is not known which one failed."""
        if command is None:
            return None
        # The commands of each closing end with the `MergeCoins` of its fee. If those are the
        # commands 4 and 9, command 4 is of the first closing and command 5 of the second.
        place = bisect_left(self._last_commands, command)
        return self.closings[place] if place < len(self.closings) else None

    def _objects(self, cap: OwnedObject) -> dict[Address, ObjectArgument]:
        objects: dict[Address, ObjectArgument] = {
            cap.reference.object_id: cap,
            self._leaders.object_id: self._leaders,
        }
        for closing in self.closings:
            invocation = closing.assignment.invocation
            objects[invocation] = SharedObject(invocation, closing.initial_version, mutable=True)
        return objects
