"""The verifier passes of Sui, which enforce more rules than the Move verifier.

Source: `sui-verifier`. The passes run in the same order as in `sui-verifier`, so that a module that
violates several rules gets the same error. Start with `verify_sui_module`.
"""

from nexus_tools.sui.bytecode import CompiledModule
from nexus_tools.sui.localnet.verifier.sui.entry_points import verify_entry_points
from nexus_tools.sui.localnet.verifier.sui.global_storage_access import verify_global_storage_access
from nexus_tools.sui.localnet.verifier.sui.id_leak import verify_id_leak
from nexus_tools.sui.localnet.verifier.sui.meter import TickMeter
from nexus_tools.sui.localnet.verifier.sui.one_time_witness import verify_one_time_witness
from nexus_tools.sui.localnet.verifier.sui.private_generics import (
    is_internal,
    verify_private_generics,
)
from nexus_tools.sui.localnet.verifier.sui.struct_with_key import verify_struct_with_key

__all__ = ["TickMeter", "is_internal", "verify_sui_module"]


def verify_sui_module(module: CompiledModule, meter: TickMeter | None = None) -> None:
    """Raise `VerificationError` for a module that violates a rule of Sui."""
    verify_struct_with_key(module)
    verify_global_storage_access(module)
    verify_id_leak(module, meter or TickMeter(module.name))
    verify_private_generics(module)
    verify_entry_points(module)
    verify_one_time_witness(module)
