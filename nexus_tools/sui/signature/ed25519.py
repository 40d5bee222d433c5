"""Ed25519 as Sui verifies it: by the rules of ZIP 215, in transactions and in Move.

Sources: ZIP 215 (zips.z.cash/zip-0215), RFC 8032 sections 5.1.1 to 5.1.4 for the curve and the
formulas. Points may have small order or be encoded with y beyond the prime; s has to be reduced;
the equation is multiplied by the cofactor.
"""

import hashlib

_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME
_SQUARE_ROOT_OF_MINUS_ONE = pow(2, (_PRIME - 1) // 4, _PRIME)

_Point = tuple[int, int, int, int]
"""Extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""

_IDENTITY: _Point = (0, 1, 1, 0)
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
    if key is None or nonce is None or scalar >= _ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % _ORDER
    # [8]([s]B - [k]A - R) is the identity
    difference = _add(_combine(scalar, _BASE, challenge, _negate(key)), _negate(nonce))
    for _ in range(3):
        difference = _double(difference)
    x, y, z, _ = difference
    return x % _PRIME == 0 and (y - z) % _PRIME == 0


def _decompress(data: bytes) -> _Point | None:
    """The point with this y and the parity of x; RFC 8032, section 5.1.3, without its range."""
    encoded = int.from_bytes(data, "little")
    odd, y = encoded >> 255, (encoded & (1 << 255) - 1) % _PRIME
    numerator, denominator = (y * y - 1) % _PRIME, (_D * y * y + 1) % _PRIME
    root = numerator * pow(denominator, 3, _PRIME)
    x = root * pow(numerator * pow(denominator, 7, _PRIME), (_PRIME - 5) // 8, _PRIME) % _PRIME
    if (denominator * x * x + numerator) % _PRIME == 0:
        x = x * _SQUARE_ROOT_OF_MINUS_ONE % _PRIME
    if (denominator * x * x - numerator) % _PRIME:
        return None
    if x & 1 != odd:
        x = -x % _PRIME  # of 0 it is 0: ZIP 215 allows its sign
    return x, y, 1, x * y % _PRIME


def _add(first: _Point, second: _Point) -> _Point:
    x1, y1, z1, t1 = first
    x2, y2, z2, t2 = second
    a = (y1 - x1) * (y2 - x2) % _PRIME
    b = (y1 + x1) * (y2 + x2) % _PRIME
    c = 2 * t1 * t2 * _D % _PRIME
    d = 2 * z1 * z2 % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _double(point: _Point) -> _Point:
    x, y, z, _ = point
    a, b = x * x % _PRIME, y * y % _PRIME
    h = a + b
    e = h - (x + y) * (x + y)
    g = a - b
    f = 2 * z * z + g
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _negate(point: _Point) -> _Point:
    x, y, z, t = point
    return -x % _PRIME, y, z, -t % _PRIME


def _combine(first: int, point: _Point, second: int, other: _Point) -> _Point:
    """[first]point + [second]other, bit by bit of both at once."""
    table = (_IDENTITY, point, other, _add(point, other))
    total = _IDENTITY
    for place in range(_ORDER.bit_length() - 1, -1, -1):
        total = _double(total)
        choice = (first >> place & 1) | (second >> place & 1) << 1
        if choice:
            total = _add(total, table[choice])
    return total


def _base_point() -> _Point:
    """B, whose y is 4/5 and whose x is even."""
    point = _decompress((4 * pow(5, -1, _PRIME) % _PRIME).to_bytes(32, "little"))
    assert point is not None
    return point


_BASE = _base_point()
