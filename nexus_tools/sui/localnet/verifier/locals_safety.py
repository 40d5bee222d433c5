"""Locals are read only while they have a value, and none is lost that may not be dropped.

Source: `move-bytecode-verifier/src/locals_safety`.

For `let x; if (a) { x = 1 }; use(x)` x is there on one of two ways: the join of both says "on
some", and reading x is refused. Had the value of another local no `drop`, returning while it is
perhaps there were refused as well.
"""

from nexus_tools.sui.bytecode import DROP, Opcode
from nexus_tools.sui.localnet.verifier.abstract_interpreter import interpret
from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block

# Whether a local has a value: on no path that leads here, on some, on all. What is perhaps there
# and cannot be dropped must not be overwritten; what is perhaps not there must not be read.
_UNAVAILABLE, _MAYBE, _AVAILABLE = range(3)
_States = tuple[int, ...]

_READS = {
    Opcode.MOVE_LOC: "MOVELOC_UNAVAILABLE_ERROR",
    Opcode.COPY_LOC: "COPYLOC_UNAVAILABLE_ERROR",
    Opcode.MUT_BORROW_LOC: "BORROWLOC_UNAVAILABLE_ERROR",
    Opcode.IMM_BORROW_LOC: "BORROWLOC_UNAVAILABLE_ERROR",
}
_JOIN_UNITS = 10
_RETURN_UNITS = 10  # `RET_COST`, for each local


def verify_locals(context: FunctionContext) -> None:
    """Raise `VerificationError` for a local that is read too late or too early, or lost."""
    given = len(context.parameters)
    initial = (_AVAILABLE,) * given + (_UNAVAILABLE,) * (len(context.locals) - given)
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
        joined = tuple([one if one == another else _MAYBE for one, another in pairs])
        return None if joined == state else joined

    def _read(self, states: list[int], opcode: Opcode, local: int, offset: int) -> None:
        if states[local] != _AVAILABLE:
            message = f"local {local} has no value"
            raise self._context.refused(_READS[opcode], message, offset)
        if opcode is Opcode.MOVE_LOC:
            states[local] = _UNAVAILABLE

    def _store(self, states: list[int], local: int, offset: int) -> None:
        if states[local] != _UNAVAILABLE and not self._droppable[local]:
            message = f"what local {local} had is lost, and may not be dropped"
            raise self._context.refused("STLOC_UNSAFE_TO_DESTROY_ERROR", message, offset)
        states[local] = _AVAILABLE

    def _return(self, states: list[int], offset: int) -> None:
        self._context.meter.add(_RETURN_UNITS * len(states))
        for local, state in enumerate(states):
            if state != _UNAVAILABLE and not self._droppable[local]:
                message = f"what local {local} has is lost, and may not be dropped"
                raise self._context.refused(
                    "UNSAFE_RET_UNUSED_VALUES_WITHOUT_DROP", message, offset
                )
