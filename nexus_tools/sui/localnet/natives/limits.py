"""What one transaction may do to objects.

Source: `sui-protocol-config/src/lib.rs`, whose names these are; those of a `Limits` have other
values for transactions that pay no gas, as `check_limit_by_meter!` chooses.
"""

from msgspec import Struct

MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS = 2_048
MAX_NUM_EVENT_EMIT = 1_024
MAX_EVENT_EMIT_SIZE = 256_000
MAX_EVENT_EMIT_SIZE_TOTAL = 65_536_000

_UNMETERED_FACTOR = 16


class Limits(Struct, frozen=True):
    """How many ids, transfers and dynamic fields a transaction may have."""

    max_num_new_move_object_ids: int = 2_048
    max_num_deleted_move_object_ids: int = 2_048
    max_num_transferred_move_object_ids: int = MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS
    object_runtime_max_num_cached_objects: int = 1_000
    object_runtime_max_num_store_entries: int = 1_000

    def times(self, factor: int) -> "Limits":
        """Each of them, so many times."""
        return Limits(*(getattr(self, name) * factor for name in self.__struct_fields__))


METERED_LIMITS = Limits()
"""Those of a transaction that pays gas."""

UNMETERED_LIMITS = METERED_LIMITS.times(_UNMETERED_FACTOR)
"""Those of the network's own transactions, and of unit tests."""
