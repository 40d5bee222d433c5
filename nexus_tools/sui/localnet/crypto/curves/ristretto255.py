"""The prime-order group ristretto255, based on the curve edwards25519.

Several points of the curve represent one element of the group, but each element has only one
encoding. Use the curve's functions for sums and multiples, and the curve's generator.

Source: RFC 9496. Hashing to the group is `hash_to_ristretto255` of RFC 9380, appendix B.
"""

import hashlib

from nexus_tools.sui.localnet.crypto.curves.edwards25519 import (
    PRIME,
    SQUARE_ROOT_OF_MINUS_ONE,
    D,
    Point,
    add,
)

ELEMENT_LENGTH = SCALAR_LENGTH = 32

# The constants of section 4.1, together with the constants of the curve.
_SQRT_AD_MINUS_ONE = 0x376931BF2B8348AC0F3CFCC931F5D1FDAF9D8E0C1B7854BD7E97F6A0497B2E1B
_INVSQRT_A_MINUS_D = 0x786C8905CFAFFCA216C27B91FE01D8409D2F16175A4172BE99C8FDAA805D40EA
_ONE_MINUS_D_SQ = 1 - D * D
_D_MINUS_ONE_SQ = (D - 1) ** 2

_HASH_BLOCK = 128
_UNIFORM_LENGTH = 64


def decode(data: bytes) -> Point:
    """Decode an element from 32 bytes (section 4.3.1). Raises `ValueError` for invalid bytes."""
    s = int.from_bytes(data, "little")
    if len(data) != ELEMENT_LENGTH or s >= PRIME or s % 2:
        raise ValueError("not a canonical encoding of an element")
    u1, u2 = 1 - s * s, 1 + s * s
    v = (-D * u1 * u1 - u2 * u2) % PRIME
    is_square, inverse_root = _square_root_ratio(1, v * u2 * u2 % PRIME)
    denominator = inverse_root * u2 % PRIME
    x = _absolute(2 * s * denominator)
    y = u1 * inverse_root * denominator * v % PRIME
    t = x * y % PRIME
    if not is_square or t % 2 or y == 0:
        raise ValueError("not the encoding of an element")
    return x, y, 1, t


def encode(element: Point) -> bytes:
    """Encode an element, given by any of its points, as 32 bytes (section 4.3.2)."""
    x, y, z, t = element
    u1, u2 = (z + y) * (z - y) % PRIME, x * y % PRIME
    _, inverse_root = _square_root_ratio(1, u1 * u2 * u2 % PRIME)
    inverse, other_inverse = inverse_root * u2 % PRIME, inverse_root * u1 % PRIME
    z_inverse = other_inverse * inverse * t % PRIME
    if t * z_inverse % PRIME % 2:
        x, y = y * SQUARE_ROOT_OF_MINUS_ONE % PRIME, x * SQUARE_ROOT_OF_MINUS_ONE % PRIME
        inverse = other_inverse * _INVSQRT_A_MINUS_D
    if x * z_inverse % PRIME % 2:
        y = -y
    return _absolute(inverse * (z - y)).to_bytes(ELEMENT_LENGTH, "little")


def hash_to_element(message: bytes, domain: bytes) -> Point:
    """Hash a message to an element, with a domain separation tag."""
    tag = domain + bytes([len(domain)])
    padded = bytes(_HASH_BLOCK) + message + _UNIFORM_LENGTH.to_bytes(2, "big") + b"\0"
    first = hashlib.sha512(padded + tag).digest()
    return from_uniform(hashlib.sha512(first + b"\1" + tag).digest())


def from_uniform(data: bytes) -> Point:
    """Map 64 uniformly random bytes to an element (section 4.3.4)."""
    return add(_map(data[:32]), _map(data[32:]))


def _map(data: bytes) -> Point:
    number = int.from_bytes(data, "little") % 2**255
    r = SQUARE_ROOT_OF_MINUS_ONE * number * number % PRIME
    v = (-1 - r * D) * (r + D) % PRIME
    is_square, s = _square_root_ratio((r + 1) * _ONE_MINUS_D_SQ % PRIME, v)
    c = -1 if is_square else r
    if not is_square:
        s = -_absolute(s * number)
    n = c * (r - 1) * _D_MINUS_ONE_SQ - v
    w0, w1 = 2 * s * v % PRIME, n * _SQRT_AD_MINUS_ONE % PRIME
    w2, w3 = 1 - s * s, 1 + s * s
    return w0 * w3 % PRIME, w2 * w1 % PRIME, w1 * w3 % PRIME, w0 * w2 % PRIME


def _square_root_ratio(u: int, v: int) -> tuple[bool, int]:
    """Return whether u/v is a square, and a square root of u/v or of √-1 · u/v (section 4.2)."""
    r = u * v**3 * pow(u * v**7, (PRIME - 5) // 8, PRIME) % PRIME
    check = v * r * r % PRIME
    if check in (-u % PRIME, -u * SQUARE_ROOT_OF_MINUS_ONE % PRIME):
        r = r * SQUARE_ROOT_OF_MINUS_ONE
    return check in (u % PRIME, -u % PRIME), _absolute(r)


def _absolute(number: int) -> int:
    """Return the number or its negative, whichever is even."""
    number %= PRIME
    return PRIME - number if number % 2 else number
