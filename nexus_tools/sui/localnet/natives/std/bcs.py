"""The native functions of `std::bcs`, which encode values as bytes."""

from collections.abc import Callable

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, TypeArguments, TypedNative, Types, Value
from nexus_tools.sui.types.address import MOVE_STDLIB

_COST_PER_BYTE = 2


def to_bytes(types: Types, type_arguments: TypeArguments) -> Callable[..., Value]:
    """Return a native function that encodes values of a type as BCS."""
    encode = types.encoder(type_arguments[0])

    def native(context: Context, value: Value) -> bytearray:
        encoded = encode(value)
        charge(context, _COST_PER_BYTE * len(encoded))
        return bytearray(encoded)

    return native


NATIVES = natives_of(MOVE_STDLIB, "bcs", to_bytes=TypedNative(to_bytes))
