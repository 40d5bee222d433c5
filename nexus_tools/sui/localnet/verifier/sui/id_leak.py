"""The check that each new object has a new id, and not the id of another object.

Code may pack a struct with the ability `key` only with a `UID` that came directly from a function
that creates new ids. The check follows values through the locals and the stack of each function.

    let id = object::new(ctx);      // new
    Coin { id, balance }            // allowed
    let Coin { id, balance } = coin;
    Coin { id, balance }            // rejected: the id belongs to another object
    let id = make_id(ctx);          // an arbitrary function: not new, whatever it does
    let id = if (a) object::new(ctx) else id;    // new on only one path: not new

Source: `sui-verifier/src/id_leak_verifier.rs`.
"""

from collections.abc import Callable

from nexus_tools.sui.bytecode import (
    Ability,
    Code,
    CompiledModule,
    FunctionDefinition,
    Instruction,
    Opcode,
)
from nexus_tools.sui.localnet.verifier.control_flow import Block, ControlFlow, control_flow
from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.limits import PUSHES_MAX
from nexus_tools.sui.localnet.verifier.stack_usage import stack_effect
from nexus_tools.sui.localnet.verifier.sui.meter import TickMeter
from nexus_tools.sui.localnet.verifier.sui.violation import function_name, module_text, violation
from nexus_tools.sui.types.address import SUI_FRAMEWORK, SUI_SYSTEM, Address

# The map contains each local with a value, and whether the value is a new id.
Locals = dict[int, bool]

_FUNCTION_COST = 10
_BLOCK_COST = 10
_EDGE_COST = 10
# `JOIN_BASE_COST`, `JOIN_PER_LOCAL_COST` and `STEP_BASE_COST`.
_JOIN_COST = 10
_JOIN_COST_PER_LOCAL = 5
_STEP_COST = 15

_BRIDGE = Address.of(0xB)
# The exceptions create system objects, which have well-known ids.
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
_FRESH_ID_FUNCTIONS = frozenset(
    (bytes(SUI_FRAMEWORK), module, function)
    for module, function in (
        ("object", "new"),
        ("object", "new_uid_from_hash"),
        ("derived_object", "claim"),
        ("test_scenario", "new_object"),
    )
)


class StaleId(Exception):  # noqa: N818 - the name states the cause
    """An error for an instruction at `offset` that packs an object with an id that is not new."""

    offset = 0


class StackFault(Exception):  # noqa: N818 - the name states the cause
    """An error for code that does not balance the stack. The Move verifier rejects such code."""

    offset = 0


def verify_id_leak(module: CompiledModule, meter: TickMeter) -> None:
    """Check all functions. Raises `VerificationError`."""
    for function in module.function_definitions:
        if module.function_id(function.handle) in _EXCEPTIONS:
            continue
        if function.code and function.code.instructions:
            _verify_function(module, function, function.code, meter)


def _verify_function(
    module: CompiledModule, function: FunctionDefinition, code: Code, meter: TickMeter
) -> None:
    """Visit the blocks of a function until their states no longer change."""
    meter.add(_FUNCTION_COST)
    flow = control_flow(code)
    handle = module.function_handles[function.handle]
    returns = len(module.signatures[handle.returns])
    states = {0: dict.fromkeys(range(len(module.signatures[handle.parameters])), False)}
    position = 0
    while position < len(flow.order):
        block = flow.blocks[flow.order[position]]
        meter.add(_BLOCK_COST + _STEP_COST * (block.end - block.start + 1))
        # In reverse postorder, a predecessor of each block comes earlier, so the block already has
        # a state.
        state = dict(states[block.start])
        try:
            _run_block(module, returns, code, block, state)
        except (StaleId, StackFault) as fault:
            raise _refused(module, function, fault) from None
        position = _propagate(states, flow, position, state, meter)


def _propagate(
    states: dict[int, Locals], flow: ControlFlow, position: int, state: Locals, meter: TickMeter
) -> int:
    """Pass the state after a block to its successors.

    Return the position of the next block to visit.

    If the state of a loop's header changed, the header is the next block.
    """
    start = flow.order[position]
    for successor in flow.blocks[start].successors:
        meter.add(_EDGE_COST)
        old_state = states.get(successor)
        if old_state is None:
            states[successor] = dict(state)
            continue
        meter.add(_JOIN_COST + _JOIN_COST_PER_LOCAL * len(state))
        if _join(old_state, state) and (start, successor) in flow.back_edges:
            meter.add(_EDGE_COST)
            return flow.order.index(successor)
    return position + 1


def _join(state: Locals, other: Locals) -> bool:
    """Mark a local as a new id only if both paths agree. Return whether a local changed."""
    changed = False
    for local, is_new in other.items():
        was_new = state.get(local, False)
        # A value only changes from new to not new, so the analysis of loops terminates.
        state[local] = was_new and is_new
        changed |= state[local] != was_new
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


# Within a block


def _run_block(
    module: CompiledModule, returns: int, code: Code, block: Block, local_values: Locals
) -> None:
    """Update the locals. Raises `StaleId` or `StackFault`."""
    run = _Run(module, returns, local_values)
    for offset in range(block.start, block.end + 1):
        instruction = code.instructions[offset]
        try:
            _EFFECTS.get(instruction.opcode, _Run.other)(run, instruction)
        except (StaleId, StackFault) as fault:
            fault.offset = offset
            raise
    run.finish()


class _Run:
    """The stack of a block, in which True is a new id and False is any other value."""

    def __init__(self, module: CompiledModule, returns: int, local_values: Locals) -> None:
        self._module = module
        self._returns = returns
        self._locals = local_values
        self._stack: list[bool] = []

    def finish(self) -> None:
        """Raise `StackFault` if a value is left on the stack."""
        if self._stack:
            raise StackFault(
                "Invalid stack transitions. Non-zero stack size at the end of the block"
            )

    def other(self, instruction: Instruction) -> None:
        """Pop and push the values of an instruction. The pushed values are not new ids."""
        stack = self._stack
        popped, pushed = stack_effect(self._module, self._returns, instruction)
        if popped > len(stack):
            raise StackFault(
                "Unexpected stack error on pop_n: Popped more values than are on the stack"
            )
        if pushed > PUSHES_MAX:
            raise StackFault(
                "Unexpected stack error on push_n: Pushed too many elements on the stack"
            )
        if popped:
            del stack[-popped:]
        stack.extend([False] * pushed)

    def move_local(self, instruction: Instruction) -> None:
        assert isinstance(instruction.operand, int)
        self._stack.append(self._locals.pop(instruction.operand, False))

    def store_local(self, instruction: Instruction) -> None:
        assert isinstance(instruction.operand, int)
        value = bool(self._stack and self._stack[-1])
        self.other(instruction)
        self._locals[instruction.operand] = value

    def call(self, instruction: Instruction) -> None:
        module, index = self._module, instruction.operand
        assert isinstance(index, int)
        if instruction.opcode is Opcode.CALL_GENERIC:
            index = module.function_instantiations[index].target
        self.other(instruction)
        if self._stack and module.function_id(index) in _FRESH_ID_FUNCTIONS:
            self._stack[-1] = True

    def pack(self, instruction: Instruction) -> None:
        module, index = self._module, instruction.operand
        assert isinstance(index, int)
        if instruction.opcode is Opcode.PACK_GENERIC:
            index = module.struct_instantiations[index].target
        struct = module.struct_definitions[index]
        count = len(struct.fields or ())
        # The id is the first field, so it is the deepest of the popped values on the stack.
        is_new = self._stack[-count] if 0 < count <= len(self._stack) else False
        self.other(instruction)
        if not is_new and module.datatype_handles[struct.handle].abilities & Ability.KEY:
            raise StaleId


# The instructions that keep track of new ids. All other instructions push values that are not new
# ids.
_EFFECTS: dict[Opcode, Callable[[_Run, Instruction], None]] = {
    Opcode.MOVE_LOC: _Run.move_local,
    Opcode.ST_LOC: _Run.store_local,
    Opcode.CALL: _Run.call,
    Opcode.CALL_GENERIC: _Run.call,
    Opcode.PACK: _Run.pack,
    Opcode.PACK_GENERIC: _Run.pack,
}
