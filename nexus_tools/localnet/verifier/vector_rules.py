"""The types that the instructions on vectors ask for."""

from collections.abc import Callable

from nexus_tools.localnet.bytecode.module import SignatureToken, VecOperand, VectorToken
from nexus_tools.localnet.bytecode.opcode import Opcode
from nexus_tools.localnet.verifier.tokens import U64
from nexus_tools.localnet.verifier.type_checker import TypeChecker

_STATUS = "TYPE_MISMATCH"


def _element(checker: TypeChecker, operand: object) -> SignatureToken:
    assert isinstance(operand, int)
    return checker.types.signature(operand)[0]


def _pop_vector(checker: TypeChecker, element: SignatureToken, *, mutable: bool) -> None:
    if checker.pop_vector(mutable=mutable) is not element:
        raise checker.refused(_STATUS, "the value is no such reference to such a vector")


def _pop_exactly(checker: TypeChecker, type_: SignatureToken) -> None:
    if checker.stack.pop() is not type_:
        raise checker.refused(_STATUS, "a value on the stack is of another type")


def _pack(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, VecOperand)
    element = checker.types.signature(operand.type)[0]
    for _ in range(operand.length):
        _pop_exactly(checker, element)
    checker.charge(element)
    checker.push(checker.types.vector(element))


def _unpack(checker: TypeChecker, operand: object) -> None:
    assert isinstance(operand, VecOperand)
    element = checker.types.signature(operand.type)[0]
    vector = checker.stack.pop()
    if not isinstance(vector, VectorToken) or vector.element is not element:
        raise checker.refused(_STATUS, "the value is no such vector")
    checker.charge(element)
    checker.push(element, operand.length)


def _length(checker: TypeChecker, operand: object) -> None:
    _pop_vector(checker, _element(checker, operand), mutable=False)
    checker.push(U64)


def _borrow(*, mutable: bool) -> Callable[[TypeChecker, object], None]:
    def rule(checker: TypeChecker, operand: object) -> None:
        element = _element(checker, operand)
        _pop_exactly(checker, U64)
        _pop_vector(checker, element, mutable=mutable)
        checker.push(checker.types.reference(element, mutable=mutable))

    return rule


def _push_back(checker: TypeChecker, operand: object) -> None:
    element = _element(checker, operand)
    _pop_exactly(checker, element)
    _pop_vector(checker, element, mutable=True)


def _pop_back(checker: TypeChecker, operand: object) -> None:
    element = _element(checker, operand)
    _pop_vector(checker, element, mutable=True)
    checker.push(element)


def _swap(checker: TypeChecker, operand: object) -> None:
    _pop_exactly(checker, U64)
    _pop_exactly(checker, U64)
    _pop_vector(checker, _element(checker, operand), mutable=True)


VECTOR_RULES: dict[Opcode, Callable[[TypeChecker, object], None]] = {
    Opcode.VEC_PACK: _pack,
    Opcode.VEC_UNPACK: _unpack,
    Opcode.VEC_LEN: _length,
    Opcode.VEC_IMM_BORROW: _borrow(mutable=False),
    Opcode.VEC_MUT_BORROW: _borrow(mutable=True),
    Opcode.VEC_PUSH_BACK: _push_back,
    Opcode.VEC_POP_BACK: _pop_back,
    Opcode.VEC_SWAP: _swap,
}
