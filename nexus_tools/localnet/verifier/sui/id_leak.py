"""An object's id is new: nothing that was the id of another object, and nothing of unknown origin.

A struct with the ability `key` is packed with a `UID` that came straight from a function that
makes new ones. Values are followed through the locals and the stack of each function.

Source: `sui-verifier/src/id_leak_verifier.rs`.
"""

from nexus_tools.localnet.bytecode import CompiledModule
from nexus_tools.localnet.bytecode.module import Code, FunctionDefinition
from nexus_tools.localnet.verifier.control_flow import ControlFlow, control_flow
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.sui.fresh_ids import Locals, StackFault, StaleId, run_block
from nexus_tools.localnet.verifier.sui.meter import Meter
from nexus_tools.localnet.verifier.sui.naming import module_text
from nexus_tools.localnet.verifier.sui.violation import function_name, violation
from nexus_tools.sui.address import SUI_FRAMEWORK, SUI_SYSTEM, Address

_FUNCTION_COST = 10
_BLOCK_COST = 10
_EDGE_COST = 10
_JOIN_COST = 10
_JOIN_COST_PER_LOCAL = 5
_STEP_COST = 15

_BRIDGE = Address.of(0xB)
# The objects of the network itself have ids that were agreed on.
_EXCEPTIONS = frozenset(
    {
        (bytes(SUI_SYSTEM), "sui_system", "create"),
        (bytes(_BRIDGE), "bridge", "create"),
        *(
            (bytes(SUI_FRAMEWORK), name, "create")
            for name in (
                "accumulator",
                "authenticator_state",
                "clock",
                "coin_registry",
                "deny_list",
                "random",
            )
        ),
    }
)


def verify_id_leak(module: CompiledModule, meter: Meter) -> None:
    """Check all functions. Raises `VerificationError`."""
    for function in module.function_definitions:
        if module.function_id(function.handle) in _EXCEPTIONS:
            continue
        if function.code and function.code.instructions:
            _verify_function(module, function, function.code, meter)


def _verify_function(
    module: CompiledModule, function: FunctionDefinition, code: Code, meter: Meter
) -> None:
    """Visit blocks until the states before them change no more."""
    meter.add(_FUNCTION_COST)
    flow = control_flow(code)
    handle = module.function_handles[function.handle]
    returns = len(module.signatures[handle.returns])
    before = {0: dict.fromkeys(range(len(module.signatures[handle.parameters])), False)}
    place = 0
    while place < len(flow.order):
        block = flow.blocks[flow.order[place]]
        meter.add(_BLOCK_COST + _STEP_COST * (block.end - block.start + 1))
        # In reverse postorder a predecessor comes first.
        after = dict(before[block.start])
        try:
            run_block(module, returns, code, block, after)
        except (StaleId, StackFault) as fault:
            raise _refused(module, function, fault) from None
        place = _propagate(before, flow, place, after, meter)


def _propagate(
    before: dict[int, Locals], flow: ControlFlow, place: int, after: Locals, meter: Meter
) -> int:
    """Hand the state after a block on; the place to go on at is a loop's head if it changed."""
    start = flow.order[place]
    for successor in flow.blocks[start].successors:
        meter.add(_EDGE_COST)
        known = before.get(successor)
        if known is None:
            before[successor] = dict(after)
            continue
        meter.add(_JOIN_COST + _JOIN_COST_PER_LOCAL * len(after))
        if _join(known, after) and (start, successor) in flow.back_edges:
            meter.add(_EDGE_COST)
            return flow.order.index(successor)
    return place + 1


def _join(known: Locals, other: Locals) -> bool:
    """Keep what holds on both ways: a local is a new id only if it is one on each."""
    changed = False
    for local, fresh in other.items():
        old = known.get(local, False)
        known[local] = old and fresh
        changed |= known[local] != old
    return changed


def _refused(
    module: CompiledModule, function: FunctionDefinition, fault: StaleId | StackFault
) -> VerificationError:
    name = f"{module_text(module)}::{function_name(module, function)}"
    if isinstance(fault, StackFault):
        text = f"PartialVMError with status VERIFIER_INVARIANT_VIOLATION and message {fault}"
    else:
        text = (
            "PartialVMError with status UNKNOWN_VERIFICATION_ERROR with sub status 1 and message"
            f" Invalid object creation in {name}. Object created without a newly created UID. The"
            " UID must come directly from sui::object::new. Or for tests, it can come from"
            " sui::test_scenario::new_object"
        )
    return violation(module, text, function, fault.offset)
