"""The type of the table of native functions, and helpers for the modules that define them."""

from nexus_tools.sui.localnet.natives.object_runtime import ObjectRuntime
from nexus_tools.sui.localnet.vm import AnyNative, Context
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

NativeTable = dict[tuple[bytes, str, str], AnyNative]


def natives_of(package: bytes, module: str, **functions: AnyNative) -> NativeTable:
    """Return the table of one module's native functions, which have the names of Move functions."""
    return {(package, module, name): native for name, native in functions.items()}


def runtime_of(context: Context) -> ObjectRuntime:
    """Return the object runtime of the transaction that calls a native function."""
    runtime = context.runtime
    assert isinstance(runtime, ObjectRuntime)
    return runtime


def object_type(type_arguments: tuple[TypeTag, ...]) -> StructTag:
    """Return the only type argument of a native function, which is a struct with `key`."""
    tag = type_arguments[0]
    assert isinstance(tag, StructTag)
    return tag
