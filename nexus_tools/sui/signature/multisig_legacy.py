"""The legacy binary format of multisigs, which nodes still accept.

The legacy format contains a roaring bitmap, and keys in base64. A bitmap of at most ten members has
one container with a list of numbers, so other bitmaps are rejected. Sources:
`sui-types/src/multisig_legacy.rs`, and the RoaringFormatSpec for the bitmap.
"""

import struct
from base64 import b64decode
from typing import TypeVar

from nexus_tools.sui.bcs import BcsError, Codec, byte_vector, record, string, u8, u16, vector
from nexus_tools.sui.signature.key_signature import KEY_SCHEMES, is_public_key
from nexus_tools.sui.signature.multisig_public_key import (
    MAX_MEMBERS,
    MultiSigMember,
    MultiSigPublicKey,
)
from nexus_tools.sui.signature.scheme import SignatureScheme

T = TypeVar("T")

_COOKIE_WITHOUT_RUNS = 12346
_HEADER = struct.Struct("<IIHHI")  # cookie, containers, and the container's key, size - 1, offset
_MEMBERS = vector(record((string, u8)))


def read_legacy(signatures: Codec[T], data: bytes) -> tuple[T, int, MultiSigPublicKey] | None:
    """Return the signatures, bitmap and public key, or None if the bytes are not a legacy multisig.

    `signatures` is the codec of the members' signatures, which have the same format as in a current
    multisig.
    """
    codec = record((signatures, byte_vector, _MEMBERS, u16))
    try:
        parts, roaring, members, threshold = codec.decode(data)
        public_key = MultiSigPublicKey(tuple(_member(*member) for member in members), threshold)
        return parts, _bitmap(roaring), public_key
    except (BcsError, ValueError, struct.error):
        return None


def _member(text: str, weight: int) -> MultiSigMember:
    """Parse a member from its flag byte and public key in base64. Raises `ValueError`."""
    data = b64decode(text, validate=True)
    scheme = SignatureScheme(data[0] if data else SignatureScheme.MULTISIG)
    curve = SignatureScheme.SECP256R1 if scheme is SignatureScheme.PASSKEY else scheme
    if curve not in KEY_SCHEMES or not is_public_key(curve, data[1:]):
        raise ValueError("the bytes are not a public key")
    return MultiSigMember(scheme, data[1:], weight)


def _bitmap(roaring: bytes) -> int:
    """Convert a roaring bitmap to an integer with a bit for each number in the bitmap.

    Raises `ValueError`, or `struct.error` if the bitmap is truncated.
    """
    cookie, containers, key, last, _ = _HEADER.unpack_from(roaring)
    if cookie != _COOKIE_WITHOUT_RUNS or containers != 1 or key or last >= MAX_MEMBERS:
        raise ValueError("the bytes are not a bitmap of members")
    numbers = struct.unpack_from(f"<{last + 1}H", roaring, _HEADER.size)
    if max(numbers) >= MAX_MEMBERS:
        raise ValueError("the bitmap contains a number that is not a member")
    return sum(1 << number for number in set(numbers))
