"""The check that instructions receive values of the types that they require.

Source: `move-bytecode-verifier/src/type_safety.rs`.
"""

from collections.abc import Callable

from nexus_tools.sui.bytecode import (
    BOOL,
    COPY,
    DROP,
    INTEGER_BYTES,
    U8,
    U16,
    U32,
    U64,
    U128,
    U256,
    Opcode,
    ReferenceToken,
    SignatureToken,
)
from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.type_table import NO_ARGUMENTS
from nexus_tools.sui.localnet.verifier.types.aggregate_rules import DATATYPE_RULES, VECTOR_RULES
from nexus_tools.sui.localnet.verifier.types.type_checker import TypeChecker

Rule = Callable[[TypeChecker, object], None]

_INTEGER_STATUS = "INTEGER_OP_TYPE_MISMATCH_ERROR"
_BOOLEAN_STATUS = "BOOLEAN_OP_TYPE_MISMATCH_ERROR"


def _is_integer(type_: SignatureToken) -> bool:
    return isinstance(type_, str) and type_ in INTEGER_BYTES


def _nothing(_: TypeChecker, __: object) -> None:
    """Do nothing for branches and NOP, which neither pop nor push a value."""


def _pop(checker: TypeChecker, _: object) -> None:
    if not checker.can(checker.stack.pop(), DROP):
        raise checker.refused("POP_WITHOUT_DROP_ABILITY", "the value has no drop ability")


def _pops(type_: SignatureToken, status: str) -> Rule:
    def rule(checker: TypeChecker, _: object) -> None:
        if checker.stack.pop() is not type_:
            raise checker.refused(status, f"the value is not a {type_}")

    return rule


def _pushes(type_: SignatureToken) -> Rule:
    return lambda checker, _: checker.push(type_)


def _return(checker: TypeChecker, _: object) -> None:
    for type_ in reversed(checker.context.returns):
        if checker.stack.pop() is not type_:
            message = "a returned value has another type"
            raise checker.refused("RET_TYPE_MISMATCH_ERROR", message)


def _constant(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    checker.push_made(checker.types.intern(checker.module.constants[operand].type))


def _store(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    if checker.stack.pop() is not checker.context.locals[operand]:
        message = f"the value does not have the type of local {operand}"
        raise checker.refused("STLOC_TYPE_MISMATCH_ERROR", message)


def _move(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    checker.push_made(checker.context.locals[operand])


def _copy(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    if not checker.can(checker.context.locals[operand], COPY):
        message = f"the value of local {operand} has no copy ability"
        raise checker.refused("COPYLOC_WITHOUT_COPY_ABILITY", message)
    checker.push_made(checker.context.locals[operand])


def _borrow_local(*, mutable: bool) -> Rule:
    def rule(checker: TypeChecker, operand: object) -> None:
        assert isinstance(operand, int)
        local = checker.context.locals[operand]
        checker.charge(local)
        if isinstance(local, ReferenceToken):
            message = f"local {operand} is already a reference"
            raise checker.refused("BORROWLOC_REFERENCE_ERROR", message)
        checker.push(checker.types.reference(local, mutable=mutable))

    return rule


def _call(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    _call_with(checker, operand, NO_ARGUMENTS)


def _call_generic(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, int)
    row = checker.module.function_instantiations[operand]
    _call_with(checker, row.target, row.type_arguments)


def _call_with(checker: TypeChecker, function: int, arguments: int) -> None:
    handle = checker.module.function_handles[function]
    parameters = checker.types.signature(handle.parameters)
    checker.pop_all(parameters, arguments, "CALL_TYPE_MISMATCH_ERROR")
    checker.push_all(checker.types.signature(handle.returns), arguments)


def _freeze(checker: TypeChecker, _: object) -> None:
    operand = checker.stack.pop()
    if not isinstance(operand, ReferenceToken) or not operand.mutable:
        message = "the value is not a mutable reference"
        raise checker.refused("FREEZEREF_TYPE_MISMATCH_ERROR", message)
    checker.push(checker.types.reference(operand.target, mutable=False))


def _read(checker: TypeChecker, _: object) -> None:
    operand = checker.stack.pop()
    if not isinstance(operand, ReferenceToken):
        raise checker.refused("READREF_TYPE_MISMATCH_ERROR", "the value is not a reference")
    if not checker.can(operand.target, COPY):
        message = "the target of the reference has no copy ability"
        raise checker.refused("READREF_WITHOUT_COPY_ABILITY", message)
    checker.push(operand.target)


def _write(checker: TypeChecker, _: object) -> None:
    reference = checker.stack.pop()
    value = checker.stack.pop()
    if not isinstance(reference, ReferenceToken) or not reference.mutable:
        message = "the value is not a mutable reference"
        raise checker.refused("WRITEREF_NO_MUTABLE_REFERENCE_ERROR", message)
    if not checker.can(reference.target, DROP):
        message = "the old value has no drop ability"
        raise checker.refused("WRITEREF_WITHOUT_DROP_ABILITY", message)
    if value is not reference.target:
        message = "the value does not have the target type of the reference"
        raise checker.refused("WRITEREF_TYPE_MISMATCH_ERROR", message)


def _cast(type_: SignatureToken) -> Rule:
    def rule(checker: TypeChecker, _: object) -> None:
        if not _is_integer(checker.stack.pop()):
            raise checker.refused(_INTEGER_STATUS, "the value is not an integer")
        checker.push(type_)

    return rule


def _arithmetic(checker: TypeChecker, _: object) -> None:
    right, left = checker.stack.pop(), checker.stack.pop()
    if not _is_integer(right) or right is not left:
        raise checker.refused(_INTEGER_STATUS, "the values are not two integers of the same type")
    checker.push(right)


def _shift(checker: TypeChecker, _: object) -> None:
    distance, value = checker.stack.pop(), checker.stack.pop()
    if not _is_integer(value) or distance is not U8:
        raise checker.refused(_INTEGER_STATUS, "the values are not an integer and a u8")
    checker.push(value)


def _boolean(checker: TypeChecker, _: object) -> None:
    right, left = checker.stack.pop(), checker.stack.pop()
    if right is not BOOL or left is not BOOL:
        raise checker.refused(_BOOLEAN_STATUS, "the values are not two bools")
    checker.push(BOOL)


def _not(checker: TypeChecker, _: object) -> None:
    if checker.stack.pop() is not BOOL:
        raise checker.refused(_BOOLEAN_STATUS, "the value is not a bool")
    checker.push(BOOL)


def _equality(checker: TypeChecker, _: object) -> None:
    right, left = checker.stack.pop(), checker.stack.pop()
    if right is not left or not checker.can(right, DROP):
        message = "the values do not have the same type with the drop ability"
        raise checker.refused("EQUALITY_OP_TYPE_MISMATCH_ERROR", message)
    checker.push(BOOL)


def _order(checker: TypeChecker, _: object) -> None:
    right, left = checker.stack.pop(), checker.stack.pop()
    if not _is_integer(right) or right is not left:
        raise checker.refused(_INTEGER_STATUS, "the values are not two integers of the same type")
    checker.push(BOOL)


RULES: dict[Opcode, Rule] = {
    Opcode.POP: _pop,
    Opcode.RET: _return,
    Opcode.BR_TRUE: _pops(BOOL, "BR_TYPE_MISMATCH_ERROR"),
    Opcode.BR_FALSE: _pops(BOOL, "BR_TYPE_MISMATCH_ERROR"),
    Opcode.BRANCH: _nothing,
    Opcode.NOP: _nothing,
    Opcode.ABORT: _pops(U64, "ABORT_TYPE_MISMATCH_ERROR"),
    Opcode.LD_U8: _pushes(U8),
    Opcode.LD_U16: _pushes(U16),
    Opcode.LD_U32: _pushes(U32),
    Opcode.LD_U64: _pushes(U64),
    Opcode.LD_U128: _pushes(U128),
    Opcode.LD_U256: _pushes(U256),
    Opcode.LD_TRUE: _pushes(BOOL),
    Opcode.LD_FALSE: _pushes(BOOL),
    Opcode.LD_CONST: _constant,
    Opcode.COPY_LOC: _copy,
    Opcode.MOVE_LOC: _move,
    Opcode.ST_LOC: _store,
    Opcode.MUT_BORROW_LOC: _borrow_local(mutable=True),
    Opcode.IMM_BORROW_LOC: _borrow_local(mutable=False),
    Opcode.CALL: _call,
    Opcode.CALL_GENERIC: _call_generic,
    Opcode.FREEZE_REF: _freeze,
    Opcode.READ_REF: _read,
    Opcode.WRITE_REF: _write,
    Opcode.CAST_U8: _cast(U8),
    Opcode.CAST_U16: _cast(U16),
    Opcode.CAST_U32: _cast(U32),
    Opcode.CAST_U64: _cast(U64),
    Opcode.CAST_U128: _cast(U128),
    Opcode.CAST_U256: _cast(U256),
    Opcode.ADD: _arithmetic,
    Opcode.SUB: _arithmetic,
    Opcode.MUL: _arithmetic,
    Opcode.MOD: _arithmetic,
    Opcode.DIV: _arithmetic,
    Opcode.BIT_OR: _arithmetic,
    Opcode.BIT_AND: _arithmetic,
    Opcode.XOR: _arithmetic,
    Opcode.SHL: _shift,
    Opcode.SHR: _shift,
    Opcode.OR: _boolean,
    Opcode.AND: _boolean,
    Opcode.NOT: _not,
    Opcode.EQ: _equality,
    Opcode.NEQ: _equality,
    Opcode.LT: _order,
    Opcode.GT: _order,
    Opcode.LE: _order,
    Opcode.GE: _order,
    **DATATYPE_RULES,
    **VECTOR_RULES,
}


def verify_types(context: FunctionContext) -> None:
    """Raise `VerificationError` for an instruction that receives a value of a wrong type.

    Each block leaves the stack unchanged, so the check visits each block only once and
    independently of the other blocks.
    """
    checker = TypeChecker(context)
    instructions = context.code.instructions
    for block in context.flow.blocks.values():
        for offset in range(block.start, block.end + 1):
            instruction = instructions[offset]
            checker.offset = offset
            RULES[instruction.opcode](checker, instruction.operand)
