"""Instructions on vectors.

A failed instruction raises `VECTOR_OPERATION_ERROR` with a sub-status.
"""

from enum import IntEnum

from msgspec.structs import replace

from nexus_tools.sui.bytecode import Opcode, VecOperand
from nexus_tools.sui.localnet.vm.definitions import ReferenceType, Type, TypeParameter
from nexus_tools.sui.localnet.vm.metering import OPERAND_STACK_MAX, VECTOR_LENGTH_MAX
from nexus_tools.sui.localnet.vm.translator.block import (
    STACK_OVERFLOW,
    BlockTranslator,
    InstructionTable,
    Operand,
)
from nexus_tools.sui.localnet.vm.translator.references import part_of
from nexus_tools.sui.types.type_tag import Primitive, VectorTag


class _SubStatus(IntEnum):
    """A vector error, numbered as in `move-vm-types/src/values/values_impl.rs`."""

    INDEX_OUT_OF_BOUNDS = 1
    POP_EMPTY_VEC = 2
    VEC_UNPACK_PARITY_MISMATCH = 3
    VEC_SIZE_LIMIT_REACHED = 4


def _check(block: BlockTranslator, condition: str, status: _SubStatus) -> None:
    """Add a statement that raises an error with this sub-status if a condition holds."""
    error = f"vector_error(function, {{offset}}, {status:d})"
    block.check(condition, error, f"{status:d} is {status.name}")


def _element(block: BlockTranslator, signature: int) -> Type:
    types = block.frame.module.signature(signature)
    if len(types) != 1 or isinstance(types[0], ReferenceType):
        raise block.invalid("an element type is missing")
    return types[0]


def _vector(block: BlockTranslator, signature: int) -> tuple[Type, Type]:
    element = _element(block, signature)
    return VectorTag(element), element  # type: ignore[arg-type]  # no reference


def _pop_vector(block: BlockTranslator, signature: int, *, mutable: bool) -> tuple[Operand, Type]:
    vector, element = _vector(block, signature)
    reference, target = block.pop_reference(mutable=mutable)
    if target != vector:
        raise block.invalid(f"expected a reference to {vector}, got a reference to {target}")
    return reference, element


def _pack(block: BlockTranslator, operand: VecOperand) -> None:
    vector, element = _vector(block, operand.type)
    items = block.pop_many(operand.length)
    for item in items:
        block.expect(item, element)
    block.frame.packed.append((vector, block.offset))
    text = ", ".join([item.text for item in items])
    if element is Primitive.U8:
        text = f"bytearray([{text}])" if items else "bytearray()"
    # The type argument determines whether the vector is a bytearray or a list.
    elif isinstance(element, TypeParameter):
        text = f"{block.frame.new_vector(element)}([{text}])"
    else:
        text = f"[{text}]"
    block.push_result(vector, text)


def _unpack(block: BlockTranslator, operand: VecOperand) -> None:
    vector, element = _vector(block, operand.type)
    value = block.name(block.expect(block.pop(), vector).text)
    _check(block, f"len({value}) != {operand.length}", _SubStatus.VEC_UNPACK_PARITY_MISMATCH)
    if operand.length > OPERAND_STACK_MAX:
        block.close(STACK_OVERFLOW)
    else:
        block.charge(operand.length, 0)
        block.push_items([element] * operand.length, value)


def _length(block: BlockTranslator, signature: int) -> None:
    reference, _ = _pop_vector(block, signature, mutable=False)
    text = f"len({reference.target})"
    block.push(
        Operand(
            Primitive.U64,
            text,
            locals=reference.locals,
            reads_memory=True,
            depth=reference.depth + 1,
        )
    )


def _borrow(block: BlockTranslator, signature: int, *, mutable: bool) -> None:
    index = block.expect(block.pop(), Primitive.U64)
    reference, element = _pop_vector(block, signature, mutable=mutable)
    vector = block.name(reference.target)
    key = block.name(index.text)
    _check(block, f"{key} >= len({vector})", _SubStatus.INDEX_OUT_OF_BOUNDS)
    # The code checks the index here but uses it later, together with the reference. This is safe,
    # because no instruction can shorten a vector while one of its elements has references.
    part = part_of(reference, ReferenceType(element, mutable), vector, key)
    block.push(replace(part, locals=_mentioned(vector, reference) | _mentioned(key, index)))


def _mentioned(name: str, operand: Operand) -> frozenset[int]:
    """Return the locals in an operand, or an empty set if its value has a new name."""
    return operand.locals if name in (operand.text, operand.target) else frozenset()


def _push_back(block: BlockTranslator, signature: int) -> None:
    value = block.pop()
    reference, element = _pop_vector(block, signature, mutable=True)
    block.expect(value, element)
    block.settle()
    vector = block.name(reference.target)
    _check(block, f"len({vector}) >= {VECTOR_LENGTH_MAX}", _SubStatus.VEC_SIZE_LIMIT_REACHED)
    block.line(f"{vector}.append({value.text})")


def _pop_back(block: BlockTranslator, signature: int) -> None:
    reference, element = _pop_vector(block, signature, mutable=True)
    block.settle()
    vector = block.name(reference.target)
    _check(block, f"not {vector}", _SubStatus.POP_EMPTY_VEC)
    block.push_result(element, f"{vector}.pop()")


def _swap(block: BlockTranslator, signature: int) -> None:
    second = block.expect(block.pop(), Primitive.U64)
    first = block.expect(block.pop(), Primitive.U64)
    reference, _ = _pop_vector(block, signature, mutable=True)
    block.settle()
    vector, first_key, second_key = map(block.name, (reference.target, first.text, second.text))
    condition = f"{first_key} >= len({vector}) or {second_key} >= len({vector})"
    _check(block, condition, _SubStatus.INDEX_OUT_OF_BOUNDS)
    items = [f"{vector}[{key}]" for key in (first_key, second_key)]
    block.line(f"{items[0]}, {items[1]} = {items[1]}, {items[0]}")


VECTORS: InstructionTable = {
    Opcode.VEC_PACK: _pack,
    Opcode.VEC_UNPACK: _unpack,
    Opcode.VEC_LEN: _length,
    Opcode.VEC_IMM_BORROW: lambda block, signature: _borrow(block, signature, mutable=False),
    Opcode.VEC_MUT_BORROW: lambda block, signature: _borrow(block, signature, mutable=True),
    Opcode.VEC_PUSH_BACK: _push_back,
    Opcode.VEC_POP_BACK: _pop_back,
    Opcode.VEC_SWAP: _swap,
}
