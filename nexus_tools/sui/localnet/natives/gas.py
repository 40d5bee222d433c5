"""What native functions cost.

The instructions of Move code are counted by the meter of the machine; what the work of natives
costs is told to it here, in internal gas units, of which 1 000 are one gas unit. The bases and
costs per byte are those of the protocol (`sui-protocol-config`).

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
    """Internal gas units for natives: those of the transaction's meter, or so many of their own.

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
        """The units used so far, of a shared meter those of everything else too."""
        return self._meter.spent


def charge(context: Context, base: int, per_byte: int = 0, size: int = 0) -> None:
    """Charge internal gas units: a base, and something for each byte of the input."""
    context.runtime.gas.charge(base + per_byte * size)


def charge_blocks(context: Context, base: int, size: int, block_size: int) -> None:
    """Charge for hashing: a base, two for each byte of a message, two for each of its blocks."""
    charge(context, cost_of_blocks(base, size, block_size))


def cost_of_blocks(base: int, size: int, block_size: int) -> int:
    """What `charge_blocks` charges.

    For 129 bytes in blocks of 128, with the base 10, that is 10 + 2 · 129 + 2 · 2 = 272.
    """
    return base + 2 * size + 2 * -(-size // block_size)


def priced(implementation: Callable[..., Any], cost: int | Callable[[int], int]) -> PricedNative:
    """A native that needs its arguments alone; it costs this, or this by the first one's length."""
    return PricedNative(implementation, cost, charge)


# What types cost

_TAG_BYTES = 8 + 16  # ENUM_BASE_ABSTRACT_SIZE and BOX_ABSTRACT_SIZE


def type_size(type_: TypeTag) -> int:
    """One for each type that a type is made of.

    `Coin<SUI>` has 2.
    """
    if isinstance(type_, VectorTag):
        return 1 + type_size(type_.element)
    size = 1
    if isinstance(type_, StructTag):
        for part in type_.type_params:
            size += 1 if isinstance(part, Primitive) else type_size(part)
    return size


def tag_size(type_: TypeTag) -> int:
    """The size of a type tag.

    Of `0x2::sui::SUI` it is 24 + 32 + 3 + 3 = 62.
    """
    if isinstance(type_, VectorTag):
        return _TAG_BYTES + tag_size(type_.element)
    return _TAG_BYTES + (struct_tag_size(type_) if isinstance(type_, StructTag) else 0)


def struct_tag_size(tag: StructTag) -> int:
    """The size of a struct's tag by itself."""
    names = len(tag.module) + len(tag.name)
    return ADDRESS_LENGTH + names + sum(map(tag_size, tag.type_params))
