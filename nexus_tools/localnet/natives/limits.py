"""What one transaction may do to objects, and how natives end it other than by aborting.

Source of the limits: `sui-protocol-config/src/lib.rs`, whose names these are in capitals.
"""

from nexus_tools.localnet.vm import NativeLimit

MAX_NUM_NEW_MOVE_OBJECT_IDS = 2_048
MAX_NUM_DELETED_MOVE_OBJECT_IDS = 2_048
MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS = 2_048
MAX_NUM_EVENT_EMIT = 1_024
MAX_EVENT_EMIT_SIZE = 256_000
MAX_EVENT_EMIT_SIZE_TOTAL = 65_536_000
OBJECT_RUNTIME_MAX_NUM_CACHED_OBJECTS = 1_000
OBJECT_RUNTIME_MAX_NUM_STORE_ENTRIES = 1_000


class UnsupportedNative(Exception):  # noqa: N818 - it says what was called
    """A native function that the localnet does not have: `FEATURE_NOT_YET_SUPPORTED`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"not supported by the localnet: {name}")
        self.name = name


class MalformedArgument(Exception):  # noqa: N818 - it says what was given
    """A value is not of the form, or bytes not of the type, that the native reads."""


class LimitExceeded(NativeLimit):
    """More ids, transfers, events or children than the protocol allows one transaction.

    On a real network this is the VM's MEMORY_LIMIT_EXCEEDED, which the effects show as a
    `MOVE_PRIMITIVE_RUNTIME_ERROR`.
    """
