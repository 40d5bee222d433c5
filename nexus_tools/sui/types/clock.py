"""The clock, which is the shared object 0x6.

The type of the clock is `0x2::clock::Clock { id: UID, timestamp_ms: u64 }`. Therefore, the clock's
40 BCS bytes are the ID (32 bytes) and the time (u64, little-endian).
"""

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.types.address import ADDRESS_LENGTH, CLOCK, SUI_FRAMEWORK
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.transaction import SharedObject
from nexus_tools.sui.types.type_tag import StructTag

CLOCK_TYPE = StructTag(SUI_FRAMEWORK, "clock", "Clock")

CLOCK_INITIAL_VERSION = 1
"""The version at which genesis shares the clock (`SUI_CLOCK_OBJECT_SHARED_VERSION`)."""


def clock_ms(clock: Object) -> int:
    """Return the clock's time, in ms since 1970."""
    assert isinstance(clock.data, MoveObject)
    return u64.read(clock.data.contents, ADDRESS_LENGTH)[0]


def clock_contents(timestamp_ms: int) -> bytes:
    """Return the BCS bytes of the clock at a time, in ms since 1970."""
    return CLOCK + u64.encode(timestamp_ms)


def clock_input(*, mutable: bool) -> SharedObject:
    """Return the clock as a transaction input."""
    return SharedObject(CLOCK, CLOCK_INITIAL_VERSION, mutable=mutable)
