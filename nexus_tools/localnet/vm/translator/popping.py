"""Taking integers and booleans from the operand stack."""

from nexus_tools.localnet.vm.translator.block import BlockTranslator
from nexus_tools.localnet.vm.translator.operand import Operand
from nexus_tools.localnet.vm.types import Primitive, Type

BITS: dict[Type, int] = {
    Primitive.U8: 8,
    Primitive.U16: 16,
    Primitive.U32: 32,
    Primitive.U64: 64,
    Primitive.U128: 128,
    Primitive.U256: 256,
}


def pop_integer(block: BlockTranslator) -> Operand:
    """Take an integer of any width. Raises `InvalidCode`."""
    operand = block.pop()
    if operand.type not in BITS:
        raise block.invalid(f"an integer is expected, not {operand.type}")
    return operand


def pop_integers(block: BlockTranslator) -> tuple[Operand, Operand]:
    """Take two integers of one width. Raises `InvalidCode`."""
    right, left = block.pop(), pop_integer(block)
    return left, block.expect(right, left.type)


def pop_booleans(block: BlockTranslator) -> tuple[Operand, Operand]:
    """Take two booleans. Raises `InvalidCode`."""
    right, left = block.pop(), block.pop()
    return block.expect(left, Primitive.BOOL), block.expect(right, Primitive.BOOL)
