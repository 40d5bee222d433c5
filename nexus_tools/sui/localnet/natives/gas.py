"""The costs of native functions.

The machine's meter counts the instructions of Move code. This module charges the work of natives to
it, in internal gas units; 1 000 of them are one gas unit. The base costs and the costs per byte are
those of the protocol (`sui-protocol-config`).

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
    """The internal gas units of natives, in the transaction's meter or in a separate one.

    `charge` uses units. It raises `OutOfGas`.
    """

    __slots__ = ("_meter", "charge")

    def __init__(self, limit: int, meter: Meter | None = None) -> None:
        if meter is not None:
            meter.pays_natives = True
        self._meter = meter or Meter(limit)
        self.charge: Callable[[int], None] = self._meter.charge_native

    @property
    def used(self) -> int:
        """The units used so far, including all other work if the meter is shared."""
        return self._meter.spent


def charge(context: Context, base: int, per_byte: int = 0, size: int = 0) -> None:
    """Charge internal gas units: a base, and a cost per byte of the input."""
    context.runtime.gas.charge(base + per_byte * size)


def charge_blocks(context: Context, base: int, size: int, block_size: int) -> None:
    """Charge for hashing: a base, two per byte of the message, and two per block."""
    charge(context, block_cost(base, size, block_size))


def block_cost(base: int, size: int, block_size: int) -> int:
    """Return the units that `charge_blocks` charges.

    For 129 bytes in blocks of 128, with the base 10, that is 10 + 2 · 129 + 2 · 2 = 272.
    """
    return base + 2 * size + 2 * -(-size // block_size)


def priced(implementation: Callable[..., Any], cost: int | Callable[[int], int]) -> PricedNative:
    """Return a native with a fixed cost, or a cost by the length of its first argument."""
    return PricedNative(implementation, cost, charge)


# Sizes of types

_TAG_BYTES = 8 + 16  # ENUM_BASE_ABSTRACT_SIZE and BOX_ABSTRACT_SIZE


def type_size(type_: TypeTag) -> int:
    """Return the number of types that a type consists of.

    For `Coin<SUI>` that is 2.
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

    For `0x2::sui::SUI` that is 24 + 32 + 3 + 3 = 62.
    """
    if isinstance(type_, VectorTag):
        return _TAG_BYTES + tag_size(type_.element)
    return _TAG_BYTES + (struct_tag_size(type_) if isinstance(type_, StructTag) else 0)


def struct_tag_size(tag: StructTag) -> int:
    """Return the size of a struct's tag without its enum and box."""
    names = len(tag.module) + len(tag.name)
    return ADDRESS_LENGTH + names + sum(map(tag_size, tag.type_params))
