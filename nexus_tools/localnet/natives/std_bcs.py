"""`std::bcs`: values as bytes."""

from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, Reference
from nexus_tools.sui.address import MOVE_STDLIB
from nexus_tools.sui.type_tag import TypeTag

_COST_PER_BYTE = 2


def to_bytes(context: Context, type_arguments: tuple[TypeTag, ...], value: Reference) -> bytearray:
    """The BCS bytes of a value."""
    encoded = context.machine.encode(type_arguments[0], value.read())
    charge(context, 0, _COST_PER_BYTE, len(encoded))
    return bytearray(encoded)


NATIVES = natives_of(MOVE_STDLIB, "bcs", to_bytes=to_bytes)
