"""The native functions of `sui::address`, which convert addresses from and to numbers and bytes."""

from nexus_tools.sui.localnet.natives.gas import priced
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import NativeAbort
from nexus_tools.sui.types.address import ADDRESS_LENGTH, SUI_FRAMEWORK

_COST = 52
_PARSE_ERROR = 0


def to_u256(address: bytes) -> int:
    """Return an address as a number."""
    return int.from_bytes(address, "big")


def from_u256(number: int) -> bytes:
    """Return the address with this number."""
    return number.to_bytes(ADDRESS_LENGTH, "big")


def from_bytes(data: bytearray) -> bytes:
    """Return the address with these bytes. Abort unless there are exactly 32 bytes."""
    if len(data) != ADDRESS_LENGTH:
        raise NativeAbort(_PARSE_ERROR)
    return bytes(data)


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "address",
    to_u256=priced(to_u256, _COST),
    from_u256=priced(from_u256, _COST),
    from_bytes=priced(from_bytes, _COST),
)
