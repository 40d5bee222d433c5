"""Walking through types as a module writes them."""

from collections.abc import Iterator

from nexus_tools.localnet.bytecode.module import (
    DatatypeToken,
    ReferenceToken,
    SignatureToken,
    VectorToken,
)

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
INTEGERS = frozenset({U8, U16, U32, U64, U128, U256})


def preorder(token: SignatureToken) -> Iterator[SignatureToken]:
    """A type and all types in it, the outer ones first."""
    waiting = [token]
    while waiting:
        token = waiting.pop()
        yield token
        if isinstance(token, VectorToken):
            waiting.append(token.element)
        elif isinstance(token, ReferenceToken):
            waiting.append(token.target)
        elif isinstance(token, DatatypeToken):
            waiting.extend(reversed(token.type_arguments))
