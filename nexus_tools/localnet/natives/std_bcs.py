"""`std::bcs`: values as bytes."""

from collections.abc import Callable

from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, Machine, TypedNative, Value
from nexus_tools.sui.address import MOVE_STDLIB
from nexus_tools.sui.type_tag import TypeTag

_COST_PER_BYTE = 2


def to_bytes(machine: Machine, type_arguments: tuple[TypeTag, ...]) -> Callable[..., Value]:
    """The BCS bytes of a value."""
    encode = machine.encoder(type_arguments[0])

    def native(context: Context, value: Value) -> bytearray:
        encoded = encode(value)
        charge(context, _COST_PER_BYTE * len(encoded))
        return bytearray(encoded)

    return native


NATIVES = natives_of(MOVE_STDLIB, "bcs", to_bytes=TypedNative(to_bytes))
