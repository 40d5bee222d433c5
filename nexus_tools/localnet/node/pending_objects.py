"""The objects as they are while the next checkpoint is made: the ledger's, and what is new."""

from nexus_tools.localnet.execution import ExecutionResult, ObjectStore
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object


class PendingObjects:
    """What earlier transactions of the checkpoint did, over the objects of the ledger."""

    __slots__ = ("_changed", "_ledger")

    def __init__(self, ledger: ObjectStore) -> None:
        self._ledger = ledger
        self._changed: dict[Address, Object | None] = {}

    def take_in(self, result: ExecutionResult) -> None:
        """Add what a transaction did."""
        self._changed.update(dict.fromkeys(result.removed))
        self._changed.update(result.written)

    def get(self, object_id: Address) -> Object | None:
        """The object as it is now."""
        if object_id in self._changed:
            return self._changed[object_id]
        return self._ledger.get(object_id)

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """The object as it was at a version."""
        changed = self._changed.get(object_id)
        if changed is not None and changed.version == version:
            return changed
        return self._ledger.get_version(object_id, version)
