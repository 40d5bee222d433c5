"""Instructions that give a boolean."""

from collections.abc import Callable
from dataclasses import replace

from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.vm.translator.block import BlockTranslator, InstructionTable
from nexus_tools.localnet.vm.translator.operand import Operand, compose
from nexus_tools.localnet.vm.translator.popping import pop_booleans, pop_integers
from nexus_tools.localnet.vm.types import Primitive, ReferenceType
from nexus_tools.localnet.vm.value_size import REFERENCE_BYTES

_Instruction = Callable[[BlockTranslator, object], None]


def _logic(word: str) -> _Instruction:
    def combine(block: BlockTranslator, _: object) -> None:
        left, right = pop_booleans(block)
        text = f"({left.text} {word} {right.text})"
        block.push(compose(Primitive.BOOL, text, left, right))

    return combine


def _not(block: BlockTranslator, _: object) -> None:
    value = block.expect(block.pop(), Primitive.BOOL)
    block.push(compose(Primitive.BOOL, f"(not {value.text})", value))


def _comparison(sign: str) -> _Instruction:
    def compare(block: BlockTranslator, _: object) -> None:
        left, right = pop_integers(block)
        text = f"({left.text} {sign} {right.text})"
        block.push(compose(Primitive.BOOL, text, left, right))

    return compare


def _equality(sign: str, negation: str) -> _Instruction:
    def compare(block: BlockTranslator, _: object) -> None:
        right, left = block.pop(), block.pop()
        block.expect(right, left.type)
        is_reference = isinstance(left.type, ReferenceType)
        type_ = left.type.target if isinstance(left.type, ReferenceType) else left.type
        one, other = [side.target if is_reference else side.text for side in (left, right)]
        known = block.frame.fixed_size(type_)
        block.charge(0, 2 * REFERENCE_BYTES * is_reference)
        block.charge_size(2 * (known or 0))
        if isinstance(type_, Primitive):
            compared = compose(Primitive.BOOL, f"({one} {sign} {other})", left, right)
            block.push(replace(compared, reads_memory=is_reference or compared.reads_memory))
        else:
            size = block.frame.sizer(type_) if known is None else None
            text = f"equal(meter, {one}, {other}, {size})"
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
