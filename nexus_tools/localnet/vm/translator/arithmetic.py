"""Instructions on integers: what does not fit the type is an `ARITHMETIC_ERROR`."""

from collections.abc import Callable

from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.vm.translator.block import BlockTranslator, InstructionTable
from nexus_tools.localnet.vm.translator.operand import Operand, compose
from nexus_tools.localnet.vm.translator.popping import BITS, pop_integer, pop_integers
from nexus_tools.localnet.vm.types import Primitive, Type

_ERROR = "arithmetic_error(function, {offset})"

_Instruction = Callable[[BlockTranslator, object], None]


def _maximum(type_: Type) -> int:
    return int((1 << BITS[type_]) - 1)


def _add(block: BlockTranslator, _: object) -> None:
    left, right = pop_integers(block)
    result = block.push_result(left.type, f"{left.text} + {right.text}")
    block.check(f"{result} > {_maximum(left.type)}", _ERROR)


def _subtract(block: BlockTranslator, _: object) -> None:
    left, right = pop_integers(block)
    result = block.push_result(left.type, f"{left.text} - {right.text}")
    block.check(f"{result} < 0", _ERROR)


def _multiply(block: BlockTranslator, _: object) -> None:
    left, right = pop_integers(block)
    result = block.push_result(left.type, f"{left.text} * {right.text}")
    block.check(f"{result} > {_maximum(left.type)}", _ERROR)


def _division(sign: str) -> _Instruction:
    def divide(block: BlockTranslator, _: object) -> None:
        left, right = pop_integers(block)
        divisor = block.name(right.text)
        if not divisor.isdecimal() or divisor == "0":
            block.check(f"not {divisor}", _ERROR)
        block.push_result(left.type, f"{left.text} {sign} {divisor}")

    return divide


def _bitwise(sign: str) -> _Instruction:
    def combine(block: BlockTranslator, _: object) -> None:
        left, right = pop_integers(block)
        block.push(compose(left.type, f"({left.text} {sign} {right.text})", left, right))

    return combine


def _shift_left(block: BlockTranslator, _: object) -> None:
    distance, value = _pop_shift(block)
    block.push_result(value.type, f"({value.text} << {distance}) & {_maximum(value.type)}")


def _shift_right(block: BlockTranslator, _: object) -> None:
    distance, value = _pop_shift(block)
    block.push_result(value.type, f"{value.text} >> {distance}")


def _pop_shift(block: BlockTranslator) -> tuple[str, Operand]:
    distance, value = block.expect(block.pop(), Primitive.U8), pop_integer(block)
    name, bits = block.name(distance.text), BITS[value.type]
    if not name.isdecimal() or int(name) >= bits:
        block.check(f"{name} >= {bits}", _ERROR)
    return name, value


def _cast(type_: Primitive) -> _Instruction:
    def cast(block: BlockTranslator, _: object) -> None:
        value = pop_integer(block)
        if BITS[value.type] <= BITS[type_]:
            block.push(value.typed(type_))
        elif value.is_simple:
            block.check(f"{value.text} > {_maximum(type_)}", _ERROR)
            block.push(value.typed(type_))
        else:
            result = block.push_result(type_, value.text)
            block.check(f"{result} > {_maximum(type_)}", _ERROR)

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
