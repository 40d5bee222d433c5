"""The native functions of `sui::event`, which emit events for clients."""

from nexus_tools.sui.localnet.natives.accumulators import StreamEvent
from nexus_tools.sui.localnet.natives.gas import charge, struct_tag_size
from nexus_tools.sui.localnet.natives.table import natives_of, runtime_of
from nexus_tools.sui.localnet.vm import Context, Value
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import StructTag, TypeTag

_COST_BASE = 52
# The costs per byte.
_COST_VALUE, _COST_TAG, _COST_OUTPUT = 2, 5, 10
_COST_STREAM = 52


def emit(context: Context, type_arguments: tuple[TypeTag, ...], event: Value) -> None:
    """Emit an event."""
    _emit(context, type_arguments[0], event)


def emit_authenticated_impl(
    context: Context,
    type_arguments: tuple[TypeTag, ...],
    _accumulator: bytes,
    stream: bytes,
    event: Value,
) -> None:
    """Emit an event as the next event of an authenticated stream."""
    head, tag = type_arguments
    charge(context, _COST_STREAM)
    number = _emit(context, tag, event)
    streamed = StreamEvent(Address(stream), head, number)
    runtime_of(context).accumulators.streamed.append(streamed)


def _emit(context: Context, tag: TypeTag, event: Value) -> int:
    assert isinstance(tag, StructTag)  # the bytecode verifier accepts only structs as events
    value_size, tag_bytes = context.types.size(tag, event), struct_tag_size(tag)
    charge(context, _COST_BASE + _COST_VALUE * value_size + _COST_TAG * tag_bytes)
    runtime = runtime_of(context)
    runtime.check_event_size(value_size + tag_bytes)
    charge(context, 0, _COST_OUTPUT, value_size + tag_bytes)
    return runtime.emit(tag, context.types.encode(tag, event))


NATIVES = natives_of(
    SUI_FRAMEWORK, "event", emit=emit, emit_authenticated_impl=emit_authenticated_impl
)
