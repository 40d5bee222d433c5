"""Events: what Move code says to the world outside.

Source: `sui-types/src/event.rs`.
"""

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import Codec, byte_vector, string, struct, vector
from nexus_tools.sui.type_tag import STRUCT_TAG, StructTag


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `package` and `module` are where it was emitted, `contents` its BCS bytes."""

    package: Address
    module: str
    sender: Address
    type: StructTag
    contents: bytes


EVENT: Codec[Event] = struct(Event, ADDRESS, string, ADDRESS, STRUCT_TAG, byte_vector)
EVENTS: Codec[tuple[Event, ...]] = vector(EVENT)
