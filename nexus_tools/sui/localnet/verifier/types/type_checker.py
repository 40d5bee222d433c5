"""The types of the values on the stack while the type check visits a block."""

from nexus_tools.sui.bytecode import (
    CompiledModule,
    FieldDefinition,
    ReferenceToken,
    Signature,
    SignatureToken,
    VectorToken,
)
from nexus_tools.sui.localnet.verifier.context import FunctionContext
from nexus_tools.sui.localnet.verifier.errors import VerificationError

# In Sui, the costs are `TYPE_PUSH_COST` and `TYPE_NODE_COST`. `_LARGE_TYPE` is
# `TYPE_NODE_QUADRATIC_THRESHOLD`.
_PUSH_UNITS = 3
_TYPE_UNITS = 6
# The charge for a larger type grows with the square of its size.
_LARGE_TYPE = 10


class TypeChecker:
    """The operand stack while a function is checked, and the current offset.

    All types are from the context's type table, so two types are equal if they are the same object.
    """

    def __init__(self, context: FunctionContext) -> None:
        self.context = context
        self.types = context.types
        self.module: CompiledModule = context.module
        self.stack: list[SignatureToken] = []
        self.offset = 0

    def refused(self, status: str, message: str) -> VerificationError:
        """Return the error to raise at the current instruction."""
        return self.context.refused(status, message, self.offset)

    def push(self, type_: SignatureToken, count: int = 1) -> None:
        """Push values of a type without a charge for building the type."""
        self.context.meter.add(_PUSH_UNITS * count)
        self.stack.extend([type_] * count)

    def push_made(self, type_: SignatureToken) -> None:
        """Push a value of a type, and charge for building the type."""
        self.charge(type_)
        self.push(type_)

    def charge(self, type_: SignatureToken) -> None:
        """Charge for building a type.

        A type with 5 nodes costs 5 * 6 = 30 units. A type with 20 nodes costs 20 * 20 // 10 * 6 =
        240.
        """
        size = self.types.size(type_)
        self.context.meter.add(_TYPE_UNITS * max(size, size * size // _LARGE_TYPE))

    def pop_all(self, types: Signature, arguments: int, status: str) -> None:
        """Pop values of these types, from the last to the first.

        If a value has another type, raise an error with the code `status`.
        """
        for type_ in reversed(types):
            expected = self.types.substitute(type_, arguments)
            self.charge(expected)
            if self.stack.pop() is not expected:
                raise self.refused(status, "a value on the stack has another type")

    def push_all(self, types: Signature, arguments: int) -> None:
        """Push values of these types from the first to the last."""
        for type_ in types:
            self.push_made(self.types.substitute(type_, arguments))

    def can(self, type_: SignatureToken, ability: int) -> bool:
        """Return whether values of a type have an ability."""
        return bool(self.context.abilities.of(type_) & ability)

    def field_types(self, fields: tuple[FieldDefinition, ...]) -> Signature:
        """Return the declared types of fields."""
        return tuple([self.types.intern(field.type) for field in fields])

    def datatype(self, handle: int, arguments: int) -> SignatureToken:
        """Return a struct or enum with the type arguments of a signature."""
        type_ = self.types.datatype(handle, self.types.signature(arguments))
        self.charge(type_)
        return type_

    def pop_vector(self, *, mutable: bool) -> SignatureToken | None:
        """Pop a value and return the element type if it is a reference to a vector, or None."""
        operand = self.stack.pop()
        if not isinstance(operand, ReferenceToken) or (mutable and not operand.mutable):
            return None
        return operand.target.element if isinstance(operand.target, VectorToken) else None
