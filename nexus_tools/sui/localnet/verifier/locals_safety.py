"""The check that code reads only locals with a value and loses no value without `drop`.

Source: `move-bytecode-verifier/src/locals_safety`.

For example, in `let x; if (a) { x = 1 }; use(x)`, x has a value on one of two paths. The join of
both states is "maybe", so the check rejects the read of x. The check also rejects a return while a
local may have a value whose type has no `drop`.
"""

from nexus_tools.sui.bytecode import DROP, Opcode
from nexus_tools.sui.localnet.verifier.abstract_interpreter import interpret
from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block

# The states of a local: it has a value on no path to this point, on some paths, or on all paths. A
# value that may exist and cannot be dropped must not be overwritten. A value that may be missing
# must not be read.
_UNAVAILABLE, _MAYBE, _AVAILABLE = range(3)
_States = tuple[int, ...]

_READS = {
    Opcode.MOVE_LOC: "MOVELOC_UNAVAILABLE_ERROR",
    Opcode.COPY_LOC: "COPYLOC_UNAVAILABLE_ERROR",
    Opcode.MUT_BORROW_LOC: "BORROWLOC_UNAVAILABLE_ERROR",
    Opcode.IMM_BORROW_LOC: "BORROWLOC_UNAVAILABLE_ERROR",
}
_JOIN_UNITS = 10
_RETURN_UNITS = 10  # the cost `RET_COST` applies to each local


def verify_locals(context: FunctionContext) -> None:
    """Raise `VerificationError` for a read of a missing value, or a lost value without `drop`."""
    parameter_count = len(context.parameters)
    initial = (_AVAILABLE,) * parameter_count + (_UNAVAILABLE,) * (
        len(context.locals) - parameter_count
    )
    interpret(context, _LocalsSafety(context), initial)


class _LocalsSafety:
    def __init__(self, context: FunctionContext) -> None:
        self._context = context
        self._droppable = [bool(context.abilities.of(local) & DROP) for local in context.locals]

    def execute(self, state: _States, block: Block) -> _States:
        states = list(state)
        instructions = self._context.code.instructions
        self._context.meter.add(block.end - block.start + 1)
        for offset in range(block.start, block.end + 1):
            instruction = instructions[offset]
            opcode = instruction.opcode
            if opcode in _READS:
                assert isinstance(instruction.operand, int)
                self._read(states, opcode, instruction.operand, offset)
            elif opcode is Opcode.ST_LOC:
                assert isinstance(instruction.operand, int)
                self._store(states, instruction.operand, offset)
            elif opcode is Opcode.RET:
                self._return(states, offset)
        return tuple(states)

    def join(self, state: _States, other: _States) -> _States | None:
        self._context.meter.add(_JOIN_UNITS)
        if state == other:
            return None
        pairs = zip(state, other, strict=True)
        joined_states = tuple([first if first == second else _MAYBE for first, second in pairs])
        return None if joined_states == state else joined_states

    def _read(self, states: list[int], opcode: Opcode, local: int, offset: int) -> None:
        if states[local] != _AVAILABLE:
            message = f"local {local} has no value"
            raise self._context.refused(_READS[opcode], message, offset)
        if opcode is Opcode.MOVE_LOC:
            states[local] = _UNAVAILABLE

    def _store(self, states: list[int], local: int, offset: int) -> None:
        if states[local] != _UNAVAILABLE and not self._droppable[local]:
            message = f"the old value of local {local} is lost, but does not have the drop ability"
            raise self._context.refused("STLOC_UNSAFE_TO_DESTROY_ERROR", message, offset)
        states[local] = _AVAILABLE

    def _return(self, states: list[int], offset: int) -> None:
        self._context.meter.add(_RETURN_UNITS * len(states))
        for local, state in enumerate(states):
            if state != _UNAVAILABLE and not self._droppable[local]:
                message = f"the value of local {local} is lost, but does not have the drop ability"
                raise self._context.refused(
                    "UNSAFE_RET_UNUSED_VALUES_WITHOUT_DROP", message, offset
                )
