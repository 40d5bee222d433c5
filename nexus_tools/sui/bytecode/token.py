"""Signature tokens: the types in a module's signatures, fields and constants.

Source: `SignatureToken` in `move-binary-format/src/file_format.rs`.
"""

from collections.abc import Iterator

from msgspec import Struct

BOOL, U8, U16, U32, U64, U128, U256, ADDRESS, SIGNER = PRIMITIVES = (
    "bool",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "u256",
    "address",
    "signer",
)
INTEGER_BYTES = {U8: 1, U16: 2, U32: 4, U64: 8, U128: 16, U256: 32}
"""The sizes of integer types in BCS, in bytes."""
CONSTANT_BYTES = {BOOL: 1, **INTEGER_BYTES, ADDRESS: 32}
"""The sizes in BCS, in bytes, of the primitive types that a constant can have."""


class DatatypeToken(Struct, frozen=True):
    """A struct or enum in a signature. `handle` is an index of `datatype_handles`."""

    handle: int
    type_arguments: tuple["SignatureToken", ...] = ()


class VectorToken(Struct, frozen=True):
    """A vector in a signature."""

    element: "SignatureToken"


class ReferenceToken(Struct, frozen=True):
    """A reference in a signature."""

    target: "SignatureToken"
    mutable: bool


class TypeParameterToken(Struct, frozen=True):
    """A type parameter of the enclosing function or datatype. Indices start at 0."""

    index: int


# A string is the Move name of a primitive type, such as bool, u8, address or signer.
SignatureToken = str | DatatypeToken | VectorToken | ReferenceToken | TypeParameterToken
Signature = tuple[SignatureToken, ...]


def preorder(token: SignatureToken) -> Iterator[SignatureToken]:
    """Yield a type and all types inside it. An outer type comes before its inner types."""
    pending = [token]
    while pending:
        token = pending.pop()
        yield token
        if isinstance(token, VectorToken):
            pending.append(token.element)
        elif isinstance(token, ReferenceToken):
            pending.append(token.target)
        elif isinstance(token, DatatypeToken):
            pending.extend(reversed(token.type_arguments))
