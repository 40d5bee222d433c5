"""The objects as they were at an earlier point of the chain."""

from nexus_tools.localnet.ledger.object_versions import read_before, read_version_before
from nexus_tools.localnet.ledger.state import State
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object


class PastObjects:
    """The objects before the `number`th transaction of the chain, as it found them.

    What was read is kept, so that it is the same `Object` each time.
    """

    __slots__ = ("_known", "_number", "_state")

    def __init__(self, state: State, number: int) -> None:
        self._state = state
        self._number = number
        self._known: dict[Address, Object | None] = {}

    def get(self, object_id: Address) -> Object | None:
        """The object as it was; None if it did not exist then."""
        if object_id not in self._known:
            self._known[object_id] = read_before(self._state, object_id, self._number)
        return self._known[object_id]

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """The object as it was at a version that it had by then."""
        return read_version_before(self._state, object_id, version, self._number)
