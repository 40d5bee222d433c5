"""`sui::address`: addresses as numbers and bytes; the number is big-endian."""

from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, NativeAbort
from nexus_tools.sui.address import ADDRESS_LENGTH, SUI_FRAMEWORK
from nexus_tools.sui.type_tag import TypeTag

_COST = 52
_PARSE_ERROR = 0


def to_u256(context: Context, _types: tuple[TypeTag, ...], address: bytes) -> int:
    """The address as a number."""
    charge(context, _COST)
    return int.from_bytes(address, "big")


def from_u256(context: Context, _types: tuple[TypeTag, ...], number: int) -> bytes:
    """The address with this number."""
    charge(context, _COST)
    return number.to_bytes(ADDRESS_LENGTH, "big")


def from_bytes(context: Context, _types: tuple[TypeTag, ...], data: bytearray) -> bytes:
    """The address of these bytes. Aborts unless there are 32."""
    charge(context, _COST)
    if len(data) != ADDRESS_LENGTH:
        raise NativeAbort(_PARSE_ERROR)
    return bytes(data)


NATIVES = natives_of(
    SUI_FRAMEWORK, "address", to_u256=to_u256, from_u256=from_u256, from_bytes=from_bytes
)
