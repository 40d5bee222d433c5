"""Instructions on integers and booleans: arithmetic, comparisons and logic."""

from collections.abc import Callable

from msgspec.structs import replace

from nexus_tools.sui.bytecode import INTEGER_BYTES, Opcode
from nexus_tools.sui.localnet.vm.definitions import ReferenceType, Type
from nexus_tools.sui.localnet.vm.translator.block import (
    BlockTranslator,
    InstructionTable,
    Operand,
    compose,
)
from nexus_tools.sui.localnet.vm.values.size import REFERENCE_BYTES
from nexus_tools.sui.types.type_tag import Primitive

_ERROR = "arithmetic_error(function, {offset})"

_BITS: dict[Type, int] = {Primitive(name): 8 * size for name, size in INTEGER_BYTES.items()}


def _pop_integer(block: BlockTranslator) -> Operand:
    """Pop an integer of any width. Raises `InvalidCode`."""
    operand = block.pop()
    if operand.type not in _BITS:
        raise block.invalid(f"expected an integer, got {operand.type}")
    return operand


def _pop_integers(block: BlockTranslator) -> tuple[Operand, Operand]:
    """Pop two integers of the same width. Raises `InvalidCode`."""
    right, left = block.pop(), _pop_integer(block)
    return left, block.expect(right, left.type)


def _pop_booleans(block: BlockTranslator) -> tuple[Operand, Operand]:
    """Pop two booleans. Raises `InvalidCode`."""
    right, left = block.pop(), block.pop()
    return block.expect(left, Primitive.BOOL), block.expect(right, Primitive.BOOL)


_Instruction = Callable[[BlockTranslator, object], None]


def _maximum(type_: Type) -> int:
    return int((1 << _BITS[type_]) - 1)


def _check_maximum(block: BlockTranslator, value: str, type_: Type) -> None:
    block.check(f"{value} > {_maximum(type_)}", _ERROR, f"not a {type_}")


def _add(block: BlockTranslator, _: object) -> None:
    left, right = _pop_integers(block)
    result = block.push_result(left.type, f"{left.text} + {right.text}")
    _check_maximum(block, result, left.type)


def _subtract(block: BlockTranslator, _: object) -> None:
    left, right = _pop_integers(block)
    result = block.push_result(left.type, f"{left.text} - {right.text}")
    block.check(f"{result} < 0", _ERROR)


def _multiply(block: BlockTranslator, _: object) -> None:
    left, right = _pop_integers(block)
    result = block.push_result(left.type, f"{left.text} * {right.text}")
    _check_maximum(block, result, left.type)


def _division(sign: str) -> _Instruction:
    def divide(block: BlockTranslator, _: object) -> None:
        left, right = _pop_integers(block)
        divisor = block.name(right.text)
        if not divisor.isdecimal() or divisor == "0":
            block.check(f"not {divisor}", _ERROR)
        block.push_result(left.type, f"{left.text} {sign} {divisor}")

    return divide


def _bitwise(sign: str) -> _Instruction:
    def combine(block: BlockTranslator, _: object) -> None:
        left, right = _pop_integers(block)
        block.push(compose(left.type, f"({left.text} {sign} {right.text})", left, right))

    return combine


def _shift_left(block: BlockTranslator, _: object) -> None:
    distance, value = _pop_shift(block)
    text = f"({value.text} << {distance}) & {_maximum(value.type)}"
    block.push_result(value.type, text, meaning=f"the bits of a {value.type}")


def _shift_right(block: BlockTranslator, _: object) -> None:
    distance, value = _pop_shift(block)
    block.push_result(value.type, f"{value.text} >> {distance}")


def _pop_shift(block: BlockTranslator) -> tuple[str, Operand]:
    distance, value = block.expect(block.pop(), Primitive.U8), _pop_integer(block)
    name, bits = block.name(distance.text), _BITS[value.type]
    if not name.isdecimal() or int(name) >= bits:
        block.check(f"{name} >= {bits}", _ERROR)
    return name, value


def _cast(type_: Primitive) -> _Instruction:
    def cast(block: BlockTranslator, _: object) -> None:
        value = _pop_integer(block)
        if _BITS[value.type] <= _BITS[type_]:
            block.push(value.typed(type_))
        elif value.is_simple:
            _check_maximum(block, value.text, type_)
            block.push(value.typed(type_))
        else:
            result = block.push_result(type_, value.text)
            _check_maximum(block, result, type_)

    return cast


def _literal(type_: Primitive) -> Callable[[BlockTranslator, int], None]:
    return lambda block, value: block.push(Operand(type_, str(value)))


ARITHMETIC: InstructionTable = {
    Opcode.ADD: _add,
    Opcode.SUB: _subtract,
    Opcode.MUL: _multiply,
    Opcode.MOD: _division("%"),
    Opcode.DIV: _division("//"),
    Opcode.BIT_OR: _bitwise("|"),
    Opcode.BIT_AND: _bitwise("&"),
    Opcode.XOR: _bitwise("^"),
    Opcode.SHL: _shift_left,
    Opcode.SHR: _shift_right,
    Opcode.CAST_U8: _cast(Primitive.U8),
    Opcode.CAST_U16: _cast(Primitive.U16),
    Opcode.CAST_U32: _cast(Primitive.U32),
    Opcode.CAST_U64: _cast(Primitive.U64),
    Opcode.CAST_U128: _cast(Primitive.U128),
    Opcode.CAST_U256: _cast(Primitive.U256),
    Opcode.LD_U8: _literal(Primitive.U8),
    Opcode.LD_U16: _literal(Primitive.U16),
    Opcode.LD_U32: _literal(Primitive.U32),
    Opcode.LD_U64: _literal(Primitive.U64),
    Opcode.LD_U128: _literal(Primitive.U128),
    Opcode.LD_U256: _literal(Primitive.U256),
}


def _logic(word: str) -> _Instruction:
    def combine(block: BlockTranslator, _: object) -> None:
        left, right = _pop_booleans(block)
        text = f"({left.text} {word} {right.text})"
        block.push(compose(Primitive.BOOL, text, left, right))

    return combine


def _not(block: BlockTranslator, _: object) -> None:
    value = block.expect(block.pop(), Primitive.BOOL)
    block.push(compose(Primitive.BOOL, f"(not {value.text})", value))


def _comparison(sign: str) -> _Instruction:
    def compare(block: BlockTranslator, _: object) -> None:
        left, right = _pop_integers(block)
        text = f"({left.text} {sign} {right.text})"
        block.push(compose(Primitive.BOOL, text, left, right))

    return compare


def _equality(sign: str, negation: str) -> _Instruction:
    def compare(block: BlockTranslator, _: object) -> None:
        right, left = block.pop(), block.pop()
        block.expect(right, left.type)
        is_reference = isinstance(left.type, ReferenceType)
        type_ = left.type.target if isinstance(left.type, ReferenceType) else left.type
        left_text, right_text = [
            side.target if is_reference else side.text for side in (left, right)
        ]
        fixed_size = block.frame.fixed_size(type_)
        block.charge(0, 2 * REFERENCE_BYTES * is_reference)
        block.charge_size(2 * (fixed_size or 0))
        if isinstance(type_, Primitive):
            comparison = compose(Primitive.BOOL, f"({left_text} {sign} {right_text})", left, right)
            block.push(replace(comparison, reads_memory=is_reference or comparison.reads_memory))
        else:
            size = block.frame.sizer(type_) if fixed_size is None else None
            text = f"equal(meter, {left_text}, {right_text}, {size})"
            block.push_result(Primitive.BOOL, f"{negation}{text}")

    return compare


def _truth(text: str) -> _Instruction:
    return lambda block, _: block.push(Operand(Primitive.BOOL, text))


COMPARISON: InstructionTable = {
    Opcode.OR: _logic("or"),
    Opcode.AND: _logic("and"),
    Opcode.NOT: _not,
    Opcode.EQ: _equality("==", ""),
    Opcode.NEQ: _equality("!=", "not "),
    Opcode.LT: _comparison("<"),
    Opcode.GT: _comparison(">"),
    Opcode.LE: _comparison("<="),
    Opcode.GE: _comparison(">="),
    Opcode.LD_TRUE: _truth("True"),
    Opcode.LD_FALSE: _truth("False"),
}
