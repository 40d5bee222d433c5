"""Reading types as they are written in signatures, fields and constants."""

from dataclasses import field

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.bytecode.cursor import Cursor
from nexus_tools.localnet.bytecode.draft import Draft
from nexus_tools.localnet.bytecode.limits import (
    SIGNATURE_SIZE_MAX,
    SIGNATURE_TOKEN_DEPTH_MAX,
    TYPE_PARAMETER_COUNT_MAX,
    TYPE_PARAMETER_INDEX_MAX,
    VERSION_6,
)
from nexus_tools.localnet.bytecode.module import (
    DatatypeToken,
    ReferenceToken,
    Signature,
    SignatureToken,
    TypeParameterToken,
    VectorToken,
)

_PRIMITIVES = {
    0x1: "bool",
    0x2: "u8",
    0x3: "u64",
    0x4: "u128",
    0x5: "address",
    0xC: "signer",
    0xD: "u16",
    0xE: "u32",
    0xF: "u256",
}
_PRIMITIVES_SINCE_6 = frozenset({0xD, 0xE, 0xF})
_REFERENCE = 0x6
_MUTABLE_REFERENCE = 0x7
_DATATYPE = 0x8
_TYPE_PARAMETER = 0x9
_VECTOR = 0xA
_DATATYPE_INSTANTIATION = 0xB


@dataclass(slots=True)
class _Constructor:
    """A type that still waits for types inside it."""

    tag: int
    handle: int
    arity: int
    arguments: list[SignatureToken] = field(default_factory=list)

    def build(self) -> SignatureToken:
        if self.tag == _VECTOR:
            return VectorToken(self.arguments[0])
        if self.tag == _DATATYPE_INSTANTIATION:
            return DatatypeToken(self.handle, tuple(self.arguments))
        return ReferenceToken(self.arguments[0], mutable=self.tag == _MUTABLE_REFERENCE)


def read_signature(cursor: Cursor, draft: Draft) -> tuple[Signature, int]:
    """The next signature, and how many type parameters it needs around it."""
    tokens, arities = [], [0]
    for _ in range(cursor.uleb(SIGNATURE_SIZE_MAX)):
        token, arity = read_token(cursor, draft)
        tokens.append(token)
        arities.append(arity)
    return tuple(tokens), max(arities)


def read_token(cursor: Cursor, draft: Draft) -> tuple[SignatureToken, int]:
    """The next type, and how many type parameters it needs around it.

    An explicit stack bounds the depth, as the format does, whatever the caller's own depth is.
    """
    waiting: list[_Constructor] = []
    arity = 0
    while True:
        token = _read_one(cursor, draft)
        if isinstance(token, _Constructor):
            waiting.append(token)
            if len(waiting) >= SIGNATURE_TOKEN_DEPTH_MAX:
                raise cursor.malformed("a type is nested too deeply")
            continue
        if isinstance(token, TypeParameterToken):
            arity = max(arity, token.index + 1)
        while waiting:
            constructor = waiting[-1]
            constructor.arguments.append(token)
            if len(constructor.arguments) < constructor.arity:
                break
            token = waiting.pop().build()
        else:
            return token, arity


def _read_one(cursor: Cursor, draft: Draft) -> SignatureToken | _Constructor:
    tag = cursor.byte()
    if tag in _PRIMITIVES:
        if tag in _PRIMITIVES_SINCE_6 and draft.version < VERSION_6:
            raise cursor.malformed(f"the type {_PRIMITIVES[tag]} needs version 6")
        return _PRIMITIVES[tag]
    if tag in (_REFERENCE, _MUTABLE_REFERENCE, _VECTOR):
        return _Constructor(tag, 0, 1)
    if tag == _TYPE_PARAMETER:
        return TypeParameterToken(cursor.uleb(TYPE_PARAMETER_INDEX_MAX))
    if tag == _DATATYPE:
        return DatatypeToken(_read_datatype(cursor, draft, instantiated=False)[0])
    if tag == _DATATYPE_INSTANTIATION:
        return _Constructor(tag, *_read_datatype(cursor, draft, instantiated=True))
    raise cursor.malformed(f"there is no type {tag:#x}")


def _read_datatype(cursor: Cursor, draft: Draft, *, instantiated: bool) -> tuple[int, int]:
    handle = cursor.index(len(draft.datatype_handles), "datatype handles")
    expected = len(draft.datatype_handles[handle].type_parameters)
    arity = cursor.uleb(TYPE_PARAMETER_COUNT_MAX) if instantiated else 0
    if instantiated and arity == 0:
        raise cursor.malformed("a type is instantiated without type arguments")
    if arity != expected:
        raise cursor.malformed(f"a type has {arity} type arguments instead of {expected}")
    return handle, arity
