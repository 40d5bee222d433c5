"""What the instructions of a block do to ids that are new: True stands for one, False for the rest.

Only a call makes one, only locals keep one, and only packing an object asks for one.
"""

from collections.abc import Callable

from nexus_tools.localnet.bytecode import CompiledModule, Opcode
from nexus_tools.localnet.bytecode.module import (
    Ability,
    Code,
    Instruction,
    StructDefinition,
    VecOperand,
)
from nexus_tools.localnet.verifier.control_flow import Block
from nexus_tools.sui.address import SUI_FRAMEWORK

Locals = dict[int, bool]

_FRESH_ID_FUNCTIONS = frozenset(
    (bytes(SUI_FRAMEWORK), module, function)
    for module, function in (
        ("object", "new"),
        ("object", "new_uid_from_hash"),
        ("derived_object", "claim"),
        ("test_scenario", "new_object"),
    )
)
# The stack pass of Move lets no block push more.
_PUSH_MAX = 10_000


class StaleId(Exception):  # noqa: N818 - it says what was found
    """An object is packed, at this offset, with an id that is not new."""

    offset = 0


class StackFault(Exception):  # noqa: N818 - it says what happened
    """Code that takes values from an empty stack: the passes of Move have not seen it."""

    offset = 0


def run_block(
    module: CompiledModule, returns: int, code: Code, block: Block, local_values: Locals
) -> None:
    """Update the locals. Raises `StaleId` or `StackFault`."""
    run = _Run(module, returns, local_values)
    for offset in range(block.start, block.end + 1):
        instruction = code.instructions[offset]
        counts = _COUNTS.get(instruction.opcode)
        try:
            if counts is None:
                _EFFECTS[instruction.opcode](run, instruction)
            else:
                run.replace(*counts)
        except (StaleId, StackFault) as fault:
            fault.offset = offset
            raise
    run.finish()


class _Run:
    def __init__(self, module: CompiledModule, returns: int, local_values: Locals) -> None:
        self._module = module
        self._returns = returns
        self._locals = local_values
        self._stack: list[bool] = []

    def finish(self) -> None:
        """No value is left on the stack from one block to the next."""
        if self._stack:
            raise StackFault(
                "Invalid stack transitions. Non-zero stack size at the end of the block"
            )

    def replace(self, popped: int, pushed: int) -> None:
        """Take values from the stack, and push others that are no new ids."""
        stack = self._stack
        if popped > len(stack):
            raise StackFault(
                "Unexpected stack error on pop_n: Popped more values than are on the stack"
            )
        if pushed > _PUSH_MAX:
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
        self.replace(1, 0)
        self._locals[instruction.operand] = value

    def call(self, instruction: Instruction) -> None:
        module, index = self._module, instruction.operand
        assert isinstance(index, int)
        if instruction.opcode is Opcode.CALL_GENERIC:
            index = module.function_instantiations[index].target
        handle = module.function_handles[index]
        self.replace(
            len(module.signatures[handle.parameters]), len(module.signatures[handle.returns])
        )
        if self._stack and module.function_id(index) in _FRESH_ID_FUNCTIONS:
            self._stack[-1] = True

    def pack(self, instruction: Instruction) -> None:
        struct = self._struct(instruction)
        count = len(struct.fields or ())
        fresh = self._stack[-count] if 0 < count <= len(self._stack) else False
        self.replace(count, 1)
        if not fresh and self._module.datatype_handles[struct.handle].abilities & Ability.KEY:
            raise StaleId

    def unpack(self, instruction: Instruction) -> None:
        self.replace(1, len(self._struct(instruction).fields or ()))

    def pack_variant(self, instruction: Instruction) -> None:
        self.replace(self._variant_fields(instruction), 1)

    def unpack_variant(self, instruction: Instruction) -> None:
        self.replace(1, self._variant_fields(instruction))

    def pack_vector(self, instruction: Instruction) -> None:
        assert isinstance(instruction.operand, VecOperand)
        self.replace(instruction.operand.length, 1)

    def unpack_vector(self, instruction: Instruction) -> None:
        assert isinstance(instruction.operand, VecOperand)
        self.replace(1, instruction.operand.length)

    def give_back(self, _: Instruction) -> None:
        self.replace(self._returns, 0)

    def _struct(self, instruction: Instruction) -> StructDefinition:
        index = instruction.operand
        assert isinstance(index, int)
        if instruction.opcode in (Opcode.PACK_GENERIC, Opcode.UNPACK_GENERIC):
            index = self._module.struct_instantiations[index].target
        return self._module.struct_definitions[index]

    def _variant_fields(self, instruction: Instruction) -> int:
        module, index = self._module, instruction.operand
        assert isinstance(index, int)
        if "GENERIC" in instruction.opcode.name:
            variant = module.variant_instantiations[index]
            enum = module.enum_instantiations[variant.enum].target
        else:
            variant = module.variant_handles[index]
            enum = variant.enum
        return len(module.enum_definitions[enum].variants[variant.tag].fields)


_EFFECTS: dict[Opcode, Callable[[_Run, Instruction], None]] = {
    Opcode.MOVE_LOC: _Run.move_local,
    Opcode.ST_LOC: _Run.store_local,
    Opcode.CALL: _Run.call,
    Opcode.CALL_GENERIC: _Run.call,
    Opcode.RET: _Run.give_back,
    Opcode.PACK: _Run.pack,
    Opcode.PACK_GENERIC: _Run.pack,
    Opcode.UNPACK: _Run.unpack,
    Opcode.UNPACK_GENERIC: _Run.unpack,
    Opcode.VEC_PACK: _Run.pack_vector,
    Opcode.VEC_UNPACK: _Run.unpack_vector,
    Opcode.PACK_VARIANT: _Run.pack_variant,
    Opcode.PACK_VARIANT_GENERIC: _Run.pack_variant,
    **{
        opcode: _Run.unpack_variant for opcode in Opcode if opcode.name.startswith("UNPACK_VARIANT")
    },
}


def _counts(popped: int, pushed: int, *opcodes: Opcode) -> dict[Opcode, tuple[int, int]]:
    return dict.fromkeys(opcodes, (popped, pushed))


# How many values each of the other instructions takes, and how many it leaves.
_COUNTS = {
    **_counts(0, 0, Opcode.NOP, Opcode.BRANCH),
    **_counts(
        0,
        1,
        *(opcode for opcode in Opcode if opcode.name.startswith("LD_")),
        Opcode.COPY_LOC,
        Opcode.MUT_BORROW_LOC,
        Opcode.IMM_BORROW_LOC,
    ),
    **_counts(
        1,
        0,
        Opcode.POP,
        Opcode.BR_TRUE,
        Opcode.BR_FALSE,
        Opcode.ABORT,
        Opcode.VARIANT_SWITCH,
    ),
    **_counts(
        1,
        1,
        *(opcode for opcode in Opcode if opcode.name.startswith("CAST_")),
        Opcode.NOT,
        Opcode.FREEZE_REF,
        Opcode.READ_REF,
        Opcode.VEC_LEN,
        Opcode.VEC_POP_BACK,
        Opcode.MUT_BORROW_FIELD,
        Opcode.IMM_BORROW_FIELD,
        Opcode.MUT_BORROW_FIELD_GENERIC,
        Opcode.IMM_BORROW_FIELD_GENERIC,
    ),
    **_counts(
        2,
        1,
        *(opcode for opcode in Opcode if Opcode.ADD <= opcode <= Opcode.AND),
        *(opcode for opcode in Opcode if Opcode.EQ <= opcode <= Opcode.GE),
        Opcode.SHL,
        Opcode.SHR,
        Opcode.VEC_IMM_BORROW,
        Opcode.VEC_MUT_BORROW,
    ),
    **_counts(2, 0, Opcode.WRITE_REF, Opcode.VEC_PUSH_BACK),
    **_counts(3, 0, Opcode.VEC_SWAP),
}
