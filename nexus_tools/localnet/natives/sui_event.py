"""`sui::event`: what Move code says to the world outside."""

from nexus_tools.localnet.natives.table import charge, natives_of, runtime_of
from nexus_tools.localnet.vm import Context, Value
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.type_tag import StructTag, TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 10


def emit(context: Context, type_arguments: tuple[TypeTag, ...], event: Value) -> None:
    """Emit an event."""
    tag = type_arguments[0]
    assert isinstance(tag, StructTag)  # the bytecode verifier lets only structs through
    contents = context.machine.encode(tag, event)
    charge(context, _COST_BASE, _COST_PER_BYTE, len(contents))
    runtime_of(context).emit(tag, contents)


NATIVES = natives_of(SUI_FRAMEWORK, "event", emit=emit)
