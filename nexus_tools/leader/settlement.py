"""One transaction that closes several invocations, and what it may cost."""

from bisect import bisect_left
from collections.abc import Sequence

from nexus_tools.leader.closing import Closing
from nexus_tools.registry import Deployment, add_outcome
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import (
    MergeCoins,
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)

# Bounds in gas units, and in MIST of storage per byte: what is not used is not paid. The storage of
# an invocation is paid anew with each change, and rebated for what it was before.
_UNITS = 10_000
_UNITS_PER_CLOSING = 100
_UNITS_PER_KILOBYTE = 60
_STORAGE_PER_CLOSING_MIST = 3_000_000
_STORAGE_PER_BYTE_MIST = 8_000


class Settlement:
    """The commands for a batch, in its order; a command is traced back to its closing."""

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
        each = len(self.closings)
        units = _UNITS + each * _UNITS_PER_CLOSING + taken * _UNITS_PER_KILOBYTE // 1024
        storage = each * _STORAGE_PER_CLOSING_MIST + taken * _STORAGE_PER_BYTE_MIST
        return units * price + storage

    def build(self, cap: OwnedObject) -> ProgrammableTransaction:
        """Settle or fail one after the other; each fee goes to the gas coin."""
        builder = TransactionBuilder()
        for closing in self.closings:
            add_outcome(
                builder,
                self._deployment,
                closing.assignment.invocation,
                cap.reference.object_id,
                closing.answer,
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
