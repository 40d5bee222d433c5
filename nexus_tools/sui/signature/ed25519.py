"""Ed25519 as Sui verifies it: by the rules of ZIP 215, in transactions and in Move.

Sources: ZIP 215 (zips.z.cash/zip-0215), RFC 8032 sections 5.1.1 to 5.1.3 for the encoding. Points
may have small order or be encoded with y beyond the prime; s has to be reduced; the equation is
multiplied by the cofactor.
"""

import hashlib

from nexus_tools.sui.edwards25519 import (
    BASE,
    ORDER,
    PRIME,
    SQUARE_ROOT_OF_MINUS_ONE,
    D,
    Point,
    add,
    combine,
    double,
    negate,
)

KEY_LENGTH, SIGNATURE_LENGTH = 32, 64


def verifies_ed25519(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature of a message is the key's. Whatever is malformed is not."""
    if len(public_key) != KEY_LENGTH or len(signature) != SIGNATURE_LENGTH:
        return False
    # Without the cofactor the rules are narrower, and the library a hundred times faster.
    return _verifies_strictly(public_key, signature, message) or _verifies_by_zip_215(
        public_key, signature, message
    )


def is_ed25519_key(public_key: bytes) -> bool:
    """Whether the bytes are a point of the curve."""
    return len(public_key) == KEY_LENGTH and _decompress(public_key) is not None


def _verifies_strictly(public_key: bytes, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 40 ms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _verifies_by_zip_215(public_key: bytes, signature: bytes, message: bytes) -> bool:
    key, nonce = _decompress(public_key), _decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    # [8]([s]B - [k]A - R) is the identity
    difference = add(combine(scalar, BASE, challenge, negate(key)), negate(nonce))
    for _ in range(3):
        difference = double(difference)
    x, y, z, _ = difference
    return x % PRIME == 0 and (y - z) % PRIME == 0


def _decompress(data: bytes) -> Point | None:
    """The point with this y and the parity of x; RFC 8032, section 5.1.3, without its range."""
    encoded = int.from_bytes(data, "little")
    odd, y = encoded >> 255, (encoded & (1 << 255) - 1) % PRIME
    numerator, denominator = (y * y - 1) % PRIME, (D * y * y + 1) % PRIME
    root = numerator * pow(denominator, 3, PRIME)
    x = root * pow(numerator * pow(denominator, 7, PRIME), (PRIME - 5) // 8, PRIME) % PRIME
    if (denominator * x * x + numerator) % PRIME == 0:
        x = x * SQUARE_ROOT_OF_MINUS_ONE % PRIME
    if (denominator * x * x - numerator) % PRIME:
        return None
    if x & 1 != odd:
        x = -x % PRIME  # of 0 it is 0: ZIP 215 allows its sign
    return x, y, 1, x * y % PRIME
