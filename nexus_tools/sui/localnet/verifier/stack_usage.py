"""The check that a block pops exactly the values that it pushed.

`stack_effect` returns how many values an instruction pops and pushes. Other passes also use
`stack_effect`. Source: `move-bytecode-verifier/src/stack_usage_verifier.rs`.
"""

from collections.abc import Callable

from nexus_tools.sui.bytecode import CompiledModule, Instruction, Opcode, VecOperand
from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.control_flow import Block
from nexus_tools.sui.localnet.verifier.limits import PUSHES_MAX, STACK_SIZE_MAX
from nexus_tools.sui.localnet.verifier.type_table import instantiated_variant, variant_of


def verify_stack_usage(context: FunctionContext) -> None:
    """Raise `VerificationError` for a block that does not balance the stack."""
    for block in context.flow.blocks.values():
        _verify_block(context, block)


def _verify_block(context: FunctionContext, block: Block) -> None:
    height = pushed = 0
    instructions, returns = context.code.instructions, len(context.returns)
    for offset in range(block.start, block.end + 1):
        pops, pushes = stack_effect(context.module, returns, instructions[offset])
        # `pushed` does not subtract pops, because its limit bounds the time to verify a block.
        pushed += pushes
        if pushed > PUSHES_MAX:
            message = f"a block pushes more than {PUSHES_MAX} values"
            raise context.refused("VALUE_STACK_PUSH_OVERFLOW", message, block.start)
        if height < pops:
            message = "a block pops values that it did not push"
            raise context.refused("NEGATIVE_STACK_SIZE_WITHIN_BLOCK", message, block.start)
        height += pushes - pops
        if height > STACK_SIZE_MAX:
            message = f"the stack grows above {STACK_SIZE_MAX} values"
            raise context.refused("VALUE_STACK_OVERFLOW", message, block.start)
    if height:
        message = f"a block leaves {height} values on the stack"
        raise context.refused("POSITIVE_STACK_SIZE_AT_BLOCK_END", message, block.start)


_Effect = tuple[int, int]


def stack_effect(module: CompiledModule, returns: int, instruction: Instruction) -> _Effect:
    """Return how many values an instruction pops and pushes. RET pops `returns` values."""
    fixed = _FIXED.get(instruction.opcode)
    if fixed is not None:
        return fixed
    if instruction.opcode is Opcode.RET:
        return returns, 0
    operand = instruction.operand
    if isinstance(operand, VecOperand):
        is_pack = instruction.opcode is Opcode.VEC_PACK
        return (operand.length, 1) if is_pack else (1, operand.length)
    assert isinstance(operand, int)
    return _OF_OPERAND[instruction.opcode](module, operand)


def _call(module: CompiledModule, index: int) -> _Effect:
    handle = module.function_handles[index]
    return len(module.signatures[handle.parameters]), len(module.signatures[handle.returns])


def _call_generic(module: CompiledModule, index: int) -> _Effect:
    return _call(module, module.function_instantiations[index].target)


def _fields(module: CompiledModule, index: int) -> int:
    return len(module.struct_definitions[index].fields or ())


def _fields_generic(module: CompiledModule, index: int) -> int:
    return _fields(module, module.struct_instantiations[index].target)


def _variant(module: CompiledModule, index: int) -> int:
    return len(variant_of(module, index).definition.fields)


def _variant_generic(module: CompiledModule, index: int) -> int:
    return len(instantiated_variant(module, index).definition.fields)


def _packs(count: Callable[[CompiledModule, int], int]) -> Callable[[CompiledModule, int], _Effect]:
    return lambda module, index: (count(module, index), 1)


def _unpacks(
    count: Callable[[CompiledModule, int], int],
) -> Callable[[CompiledModule, int], _Effect]:
    return lambda module, index: (1, count(module, index))


_OF_OPERAND: dict[Opcode, Callable[[CompiledModule, int], _Effect]] = {
    Opcode.CALL: _call,
    Opcode.CALL_GENERIC: _call_generic,
    Opcode.PACK: _packs(_fields),
    Opcode.PACK_GENERIC: _packs(_fields_generic),
    Opcode.UNPACK: _unpacks(_fields),
    Opcode.UNPACK_GENERIC: _unpacks(_fields_generic),
    Opcode.PACK_VARIANT: _packs(_variant),
    Opcode.PACK_VARIANT_GENERIC: _packs(_variant_generic),
    Opcode.UNPACK_VARIANT: _unpacks(_variant),
    Opcode.UNPACK_VARIANT_IMM_REF: _unpacks(_variant),
    Opcode.UNPACK_VARIANT_MUT_REF: _unpacks(_variant),
    Opcode.UNPACK_VARIANT_GENERIC: _unpacks(_variant_generic),
    Opcode.UNPACK_VARIANT_GENERIC_IMM_REF: _unpacks(_variant_generic),
    Opcode.UNPACK_VARIANT_GENERIC_MUT_REF: _unpacks(_variant_generic),
}
_EFFECTS: dict[_Effect, str] = {
    (0, 0): "BRANCH NOP",
    (0, 1): "LD_U8 LD_U16 LD_U32 LD_U64 LD_U128 LD_U256 LD_CONST LD_TRUE LD_FALSE"
    " COPY_LOC MOVE_LOC MUT_BORROW_LOC IMM_BORROW_LOC",
    (1, 0): "POP BR_TRUE BR_FALSE ST_LOC ABORT VARIANT_SWITCH",
    (1, 1): "NOT FREEZE_REF READ_REF EXISTS_DEPRECATED EXISTS_GENERIC_DEPRECATED"
    " MUT_BORROW_GLOBAL_DEPRECATED MUT_BORROW_GLOBAL_GENERIC_DEPRECATED"
    " IMM_BORROW_GLOBAL_DEPRECATED IMM_BORROW_GLOBAL_GENERIC_DEPRECATED"
    " MOVE_FROM_DEPRECATED MOVE_FROM_GENERIC_DEPRECATED"
    " MUT_BORROW_FIELD MUT_BORROW_FIELD_GENERIC IMM_BORROW_FIELD IMM_BORROW_FIELD_GENERIC"
    " CAST_U8 CAST_U16 CAST_U32 CAST_U64 CAST_U128 CAST_U256 VEC_LEN VEC_POP_BACK",
    (2, 0): "WRITE_REF VEC_PUSH_BACK MOVE_TO_DEPRECATED MOVE_TO_GENERIC_DEPRECATED",
    (2, 1): "ADD SUB MUL MOD DIV BIT_OR BIT_AND XOR SHL SHR OR AND EQ NEQ LT GT LE GE"
    " VEC_IMM_BORROW VEC_MUT_BORROW",
    (3, 0): "VEC_SWAP",
}
_FIXED = {Opcode[name]: effect for effect, names in _EFFECTS.items() for name in names.split()}
