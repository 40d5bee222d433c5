"""The parser of types in signatures, fields and constants."""

from msgspec import Struct, field

from nexus_tools.sui.bytecode.format.cursor import Cursor
from nexus_tools.sui.bytecode.format.draft import Draft
from nexus_tools.sui.bytecode.format.file_format import (
    SIGNATURE_SIZE_MAX,
    SIGNATURE_TOKEN_DEPTH_MAX,
    TYPE_PARAMETER_COUNT_MAX,
    TYPE_PARAMETER_INDEX_MAX,
    VERSION_6,
    SerializedType,
)
from nexus_tools.sui.bytecode.token import (
    PRIMITIVES,
    DatatypeToken,
    ReferenceToken,
    Signature,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)

_PRIMITIVES: dict[int, str] = {SerializedType[name.upper()]: name for name in PRIMITIVES}
_SINCE_6 = frozenset({SerializedType.U16, SerializedType.U32, SerializedType.U256})
_AROUND_ONE = frozenset(
    {SerializedType.REFERENCE, SerializedType.MUTABLE_REFERENCE, SerializedType.VECTOR}
)


class _Constructor(Struct):
    """A vector, reference or generic type whose inner types have not all been read."""

    tag: int
    handle: int
    arity: int
    arguments: list[SignatureToken] = field(default_factory=list)

    def build(self) -> SignatureToken:
        if self.tag == SerializedType.VECTOR:
            return VectorToken(self.arguments[0])
        if self.tag == SerializedType.DATATYPE_INSTANTIATION:
            return DatatypeToken(self.handle, tuple(self.arguments))
        return ReferenceToken(
            self.arguments[0], mutable=self.tag == SerializedType.MUTABLE_REFERENCE
        )


def read_signature(cursor: Cursor, draft: Draft) -> tuple[Signature, int]:
    """Read the next signature. Return the signature and the number of type parameters it needs."""
    tokens, arities = [], [0]
    for _ in range(cursor.uleb(SIGNATURE_SIZE_MAX)):
        token, arity = read_token(cursor, draft)
        tokens.append(token)
        arities.append(arity)
    return tuple(tokens), max(arities)


def read_token(cursor: Cursor, draft: Draft) -> tuple[SignatureToken, int]:
    """Read the next type. Return the type and the number of type parameters that it needs.

    The format limits the nesting depth of a type. The parser enforces that limit with an explicit
    stack instead of recursion.

    For example, 0a 0b 05 01 03 is a vector (0a) of the datatype 5 with one type argument (0b 05
    01), which is u64 (03). The parser pushes the vector and then the datatype on the stack. The u64
    completes both types.
    """
    pending: list[_Constructor] = []
    arity = 0
    while True:
        token = _read_one(cursor, draft)
        if isinstance(token, _Constructor):
            pending.append(token)
            if len(pending) >= SIGNATURE_TOKEN_DEPTH_MAX:
                raise cursor.malformed("a type is nested too deeply")
            continue
        if isinstance(token, TypeParameterToken):
            arity = max(arity, token.index + 1)
        while pending:
            constructor = pending[-1]
            constructor.arguments.append(token)
            if len(constructor.arguments) < constructor.arity:
                break
            token = pending.pop().build()
        else:
            return token, arity


def _read_one(cursor: Cursor, draft: Draft) -> SignatureToken | _Constructor:
    tag = cursor.byte()
    if tag in _PRIMITIVES:
        if tag in _SINCE_6 and draft.version < VERSION_6:
            raise cursor.malformed(f"the type {_PRIMITIVES[tag]} needs version 6")
        return _PRIMITIVES[tag]
    if tag in _AROUND_ONE:
        return _Constructor(tag, 0, 1)
    if tag == SerializedType.TYPE_PARAMETER:
        return TypeParameterToken(cursor.uleb(TYPE_PARAMETER_INDEX_MAX))
    if tag == SerializedType.DATATYPE:
        return DatatypeToken(_read_datatype(cursor, draft, instantiated=False)[0])
    if tag == SerializedType.DATATYPE_INSTANTIATION:
        return _Constructor(tag, *_read_datatype(cursor, draft, instantiated=True))
    raise cursor.malformed(f"unknown type {tag:#x}")


def _read_datatype(cursor: Cursor, draft: Draft, *, instantiated: bool) -> tuple[int, int]:
    handle = cursor.index(len(draft.datatype_handles), "datatype handles")
    expected = len(draft.datatype_handles[handle].type_parameters)
    arity = cursor.uleb(TYPE_PARAMETER_COUNT_MAX) if instantiated else 0
    if instantiated and arity == 0:
        raise cursor.malformed("a type is instantiated without type arguments")
    if arity != expected:
        raise cursor.malformed(f"expected {expected} type arguments, got {arity}")
    return handle, arity
