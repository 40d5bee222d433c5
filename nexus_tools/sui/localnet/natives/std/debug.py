"""The native functions of `std::debug`, which print nothing, as on a real network."""

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.types.address import MOVE_STDLIB
from nexus_tools.sui.types.type_tag import TypeTag

_COST_BASE = 52


def print_value(context: Context, _types: tuple[TypeTag, ...], _value: Reference) -> None:
    """Accept a value and print nothing."""
    charge(context, _COST_BASE)


def print_stack_trace(context: Context, _types: tuple[TypeTag, ...]) -> None:
    """Print nothing."""
    charge(context, _COST_BASE)


NATIVES = natives_of(MOVE_STDLIB, "debug", print=print_value, print_stack_trace=print_stack_trace)
