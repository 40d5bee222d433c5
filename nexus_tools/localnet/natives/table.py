"""The form of the table of natives, and how each Move module contributes to it."""

from collections.abc import Callable
from typing import Any

from nexus_tools.localnet.natives.object_runtime import ObjectRuntime
from nexus_tools.localnet.vm import AnyNative, Context, PricedNative
from nexus_tools.sui.type_tag import StructTag, TypeTag

NativeTable = dict[tuple[bytes, str, str], AnyNative]


def natives_of(package: bytes, module: str, **functions: AnyNative) -> NativeTable:
    """The natives of one module, by the names of their Move functions."""
    return {(package, module, name): native for name, native in functions.items()}


def runtime_of(context: Context) -> ObjectRuntime:
    """The state of the transaction that a native works for."""
    runtime = context.runtime
    assert isinstance(runtime, ObjectRuntime)
    return runtime


def object_type(type_arguments: tuple[TypeTag, ...]) -> StructTag:
    """The only type argument of a native that takes objects: only structs have the ability key."""
    tag = type_arguments[0]
    assert isinstance(tag, StructTag)
    return tag


def charge(context: Context, base: int, per_byte: int = 0, size: int = 0) -> None:
    """Charge internal gas units: a base, and something for each byte of the input."""
    context.runtime.gas.charge(base + per_byte * size)


def charge_blocks(context: Context, base: int, size: int, block_size: int) -> None:
    """Charge for hashing: a base, two for each byte of a message, two for each of its blocks."""
    charge(context, cost_of_blocks(base, size, block_size))


def cost_of_blocks(base: int, size: int, block_size: int) -> int:
    """What `charge_blocks` charges."""
    return base + 2 * size + 2 * -(-size // block_size)


def priced(implementation: Callable[..., Any], cost: int | Callable[[int], int]) -> PricedNative:
    """A native that needs its arguments alone; it costs this, or this by the first one's length."""
    return PricedNative(implementation, cost, charge)
