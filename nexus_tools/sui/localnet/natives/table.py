"""The form of the table of natives, and helpers for the modules that fill it."""

from nexus_tools.sui.localnet.natives.object_runtime import ObjectRuntime
from nexus_tools.sui.localnet.vm import AnyNative, Context
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

NativeTable = dict[tuple[bytes, str, str], AnyNative]


def natives_of(package: bytes, module: str, **functions: AnyNative) -> NativeTable:
    """Return the natives of one module, by the names of their Move functions."""
    return {(package, module, name): native for name, native in functions.items()}


def runtime_of(context: Context) -> ObjectRuntime:
    """Return the state of the transaction that calls a native."""
    runtime = context.runtime
    assert isinstance(runtime, ObjectRuntime)
    return runtime


def object_type(type_arguments: tuple[TypeTag, ...]) -> StructTag:
    """Return a native's only type argument, a struct, because only structs have `key`."""
    tag = type_arguments[0]
    assert isinstance(tag, StructTag)
    return tag
