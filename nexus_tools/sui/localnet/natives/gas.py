"""The costs of native functions.

The VM's meter counts the instructions of Move code. This module charges the work of native
functions to the meter, in internal gas units. A gas unit is 1 000 internal units. Sui's protocol
configuration defines the base costs and the costs per byte (`sui-protocol-config`).

Sources of the sizes of types: `Type::size` in `move-vm-types/src/loaded_data/runtime_types.rs`, and
`abstract_size_for_gas_metering` in `move-core-types/src/language_storage.rs`.
"""

from collections.abc import Callable
from typing import Any

from nexus_tools.sui.localnet.vm import Context, Meter, PricedNative
from nexus_tools.sui.types.address import ADDRESS_LENGTH
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag

INTERNAL_UNITS_PER_GAS_UNIT = 1_000


class NativeGas:
    """The gas of native functions, charged to the transaction's meter or to a separate meter.

    `charge` charges internal gas units. If the budget is used up, `charge` raises `OutOfGas`.
    """

    __slots__ = ("_meter", "charge")

    def __init__(self, limit: int, meter: Meter | None = None) -> None:
        if meter is not None:
            meter.pays_natives = True
        self._meter = meter or Meter(limit)
        self.charge: Callable[[int], None] = self._meter.charge_native

    @property
    def used(self) -> int:
        """The internal gas units used so far.

        If the meter is shared, the units include all other work.
        """
        return self._meter.spent


def charge(context: Context, base: int, per_byte: int = 0, size: int = 0) -> None:
    """Charge internal gas units: a base, and a cost per byte of the input."""
    context.runtime.gas.charge(base + per_byte * size)


def charge_blocks(context: Context, base: int, size: int, block_size: int) -> None:
    """Charge for a hash: a base cost, 2 units per byte of the message, and 2 per block."""
    charge(context, block_cost(base, size, block_size))


def block_cost(base: int, size: int, block_size: int) -> int:
    """Return the internal gas units that `charge_blocks` charges.

    For example, 129 bytes in blocks of 128 with a base cost of 10 take 10 + 2 · 129 + 2 · 2 = 272
    units.
    """
    return base + 2 * size + 2 * -(-size // block_size)


def priced(implementation: Callable[..., Any], cost: int | Callable[[int], int]) -> PricedNative:
    """Return a native function whose cost is fixed or depends on its first argument's length."""
    return PricedNative(implementation, cost, charge)


# Sizes of types

_TAG_BYTES = 8 + 16  # Sui's ENUM_BASE_ABSTRACT_SIZE plus BOX_ABSTRACT_SIZE


def type_size(type_: TypeTag) -> int:
    """Return the number of nodes in the tree of a type.

    For `Coin<SUI>`, the result is 2.
    """
    if isinstance(type_, VectorTag):
        return 1 + type_size(type_.element)
    size = 1
    if isinstance(type_, StructTag):
        for type_argument in type_.type_params:
            size += 1 if isinstance(type_argument, Primitive) else type_size(type_argument)
    return size


def tag_size(type_: TypeTag) -> int:
    """Return the size of a type tag.

    For `0x2::sui::SUI`, the result is 24 + 32 + 3 + 3 = 62.
    """
    if isinstance(type_, VectorTag):
        return _TAG_BYTES + tag_size(type_.element)
    return _TAG_BYTES + (struct_tag_size(type_) if isinstance(type_, StructTag) else 0)


def struct_tag_size(tag: StructTag) -> int:
    """Return the size of a struct tag without the enclosing `TypeTag` enum and its box."""
    names = len(tag.module) + len(tag.name)
    return ADDRESS_LENGTH + names + sum(map(tag_size, tag.type_params))
