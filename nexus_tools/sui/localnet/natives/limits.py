"""The limits of the object changes and events of one transaction.

The limits have the names of `sui-protocol-config/src/lib.rs`. Transactions that do not pay gas have
higher `Limits`, as in Sui's macro `check_limit_by_meter!`.
"""

from msgspec import Struct

MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS = 2_048
MAX_NUM_EVENT_EMIT = 1_024
MAX_EVENT_EMIT_SIZE = 256_000
MAX_EVENT_EMIT_SIZE_TOTAL = 65_536_000

_UNMETERED_FACTOR = 16


class Limits(Struct, frozen=True):
    """The maximum numbers of ids, transfers and dynamic fields of a transaction."""

    max_num_new_move_object_ids: int = 2_048
    max_num_deleted_move_object_ids: int = 2_048
    max_num_transferred_move_object_ids: int = MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS
    object_runtime_max_num_cached_objects: int = 1_000
    object_runtime_max_num_store_entries: int = 1_000

    def times(self, factor: int) -> "Limits":
        """Return the limits multiplied by a factor."""
        return Limits(*(getattr(self, name) * factor for name in self.__struct_fields__))


METERED_LIMITS = Limits()
"""The limits of a transaction that pays gas."""

UNMETERED_LIMITS = METERED_LIMITS.times(_UNMETERED_FACTOR)
"""The limits of system transactions and of unit tests."""
