"""The form of the table of natives, and how each Move module contributes to it."""

from nexus_tools.localnet.natives.object_runtime import ObjectRuntime
from nexus_tools.localnet.vm import Context, Native

NativeTable = dict[tuple[bytes, str, str], Native]


def natives_of(package: bytes, module: str, **functions: Native) -> NativeTable:
    """The natives of one module, by the names of their Move functions."""
    return {(package, module, name): native for name, native in functions.items()}


def runtime_of(context: Context) -> ObjectRuntime:
    """The state of the transaction that a native works for."""
    runtime = context.runtime
    assert isinstance(runtime, ObjectRuntime)
    return runtime


def charge(context: Context, base: int, per_byte: int = 0, size: int = 0) -> None:
    """Charge internal gas units: a base, and something for each byte of the input."""
    context.runtime.gas.charge(base + per_byte * size)


def charge_blocks(context: Context, base: int, size: int, block_size: int) -> None:
    """Charge for hashing: a base, two for each byte of a message, two for each of its blocks."""
    charge(context, base + 2 * size + 2 * -(-size // block_size))
