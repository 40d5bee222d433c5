"""Instructions on locals and constants."""

from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.vm.translator.block import BlockTranslator, InstructionTable
from nexus_tools.localnet.vm.translator.operand import Operand
from nexus_tools.localnet.vm.types import Primitive, ReferenceType, Type, VectorTag


def copy_of(type_: Type, text: str) -> str:
    """The expression of a deep copy, which is not charged."""
    if isinstance(type_, Primitive):
        return text
    flat = isinstance(type_, VectorTag) and isinstance(type_.element, Primitive)
    return f"{text}[:]" if flat else f"copy({text})"


def charged_copy_of(block: BlockTranslator, type_: Type, text: str) -> str:
    """The expression of a deep copy that is charged by its size."""
    known = block.frame.fixed_size(type_)
    if known is None:
        return f"{block.frame.copier(type_)}(meter, {text})"
    block.charge_size(known)
    return copy_of(type_, text)


def _load(block: BlockTranslator, local: int) -> Operand:
    frame, mentions = block.frame, frozenset({local})
    type_ = frame.locals[local]
    if isinstance(type_, ReferenceType):
        return Operand(type_, f"c{local}", f"k{local}", mentions)
    return Operand(type_, frame.value(local), None, mentions, local in frame.cells)


def _copy_local(block: BlockTranslator, local: int) -> None:
    operand = _load(block, local)
    if isinstance(operand.type, ReferenceType | Primitive):
        block.charge_value(operand.type, operand.text)
        block.push(operand)
    else:
        block.push_result(operand.type, charged_copy_of(block, operand.type, operand.text))


def _move_local(block: BlockTranslator, local: int) -> None:
    block.push(_load(block, local))


def _store_local(block: BlockTranslator, local: int) -> None:
    frame = block.frame
    operand = block.expect(block.pop(), frame.locals[local])
    block.settle_local(local)
    if operand.key is not None:
        block.line(f"c{local} = {operand.text}")
        block.line(f"k{local} = {operand.key}")
        return
    if local in frame.cells:
        block.settle()
    variable = frame.value(local)
    if operand.text != variable:
        block.line(f"{variable} = {operand.text}")


def _borrow_local(block: BlockTranslator, local: int, *, mutable: bool) -> None:
    frame = block.frame
    type_ = frame.locals[local]
    if isinstance(type_, ReferenceType):
        raise block.invalid("a reference to a reference")
    reference = ReferenceType(type_, mutable)
    if local in frame.cells:
        block.push(Operand(reference, f"cell{local}", "0"))
    else:
        block.push(Operand(reference, frame.value(local), None, frozenset({local})))


def _load_constant(block: BlockTranslator, index: int) -> None:
    frame = block.frame
    constant = frame.module.compiled.constants[index]
    block.charge(0, len(constant.data))
    type_, value = frame.module.constant(index)
    if isinstance(type_, Primitive) and type_ is not Primitive.ADDRESS:
        block.push(Operand(type_, str(value)))
    elif isinstance(type_, Primitive):
        block.push(Operand(type_, frame.constant(index, value)))
    else:
        name = frame.constant(index, value)
        block.push_result(type_, copy_of(type_, name))


LOCALS: InstructionTable = {
    Opcode.COPY_LOC: _copy_local,
    Opcode.MOVE_LOC: _move_local,
    Opcode.ST_LOC: _store_local,
    Opcode.MUT_BORROW_LOC: lambda block, local: _borrow_local(block, local, mutable=True),
    Opcode.IMM_BORROW_LOC: lambda block, local: _borrow_local(block, local, mutable=False),
    Opcode.LD_CONST: _load_constant,
}
