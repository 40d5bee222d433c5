"""BLS12-381: its scalars, the groups G1 and G2 with their pairing, and signatures.

The arithmetic is that of arkworks, by `py_arkworks_bls12381`, which is imported when a point is
first used. The bytes are read as strictly as blst does it, which Sui uses. A signature by BLS is a
point of one group, its key one of the other. Sources: the IETF's draft on pairing-friendly curves,
section 4.2.1, and appendix C for the format of Zcash; RFC 9380 for hashing to points; the IETF's
draft on BLS signatures, sections 2.5 and 2.7, with the suites `BLS_SIG_…_NUL_`.
"""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from msgspec import Struct

from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement

PRIME = int(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f624"
    "1eabfffeb153ffffb9feffffffffaaab",
    16,
)
ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
NUMBER_BYTES = 48
SCALAR_BYTES = 32


class Scalars:
    """The numbers modulo the order of the groups, as 32 big-endian bytes."""

    def decode(self, data: bytes) -> int:
        """The scalar that a number of 32 bytes is, modulo the order. Raises `InvalidElement`."""
        if len(data) != SCALAR_BYTES:
            raise InvalidElement
        return int.from_bytes(data, "big") % ORDER

    def validate(self, data: bytes) -> int:
        """The scalar, which has to be less than the order. Raises `InvalidElement`."""
        if int.from_bytes(data, "big") >= ORDER:
            raise InvalidElement
        return self.decode(data)

    def encode(self, element: int) -> bytes:
        """A scalar as bytes."""
        return element.to_bytes(SCALAR_BYTES, "big")

    def add(self, first: int, second: int) -> int:
        """The sum of two scalars."""
        return (first + second) % ORDER

    def subtract(self, first: int, second: int) -> int:
        """The difference of two scalars."""
        return (first - second) % ORDER

    def multiply(self, element: int, scalar: int) -> int:
        """The product of two scalars."""
        return element * scalar % ORDER

    def invert(self, scalar: int) -> int:
        """What gives one, multiplied by a scalar. Raises `InvalidElement` for zero."""
        if not scalar:
            raise InvalidElement
        return pow(scalar, -1, ORDER)


SCALARS = Scalars()


# The highest bits of the first byte, which are free: a number below the prime takes 381 bits of
# 384. `_LARGER` says which of y and -y is meant of a point that is only its x.
_COMPRESSED, _INFINITY, _LARGER = 0x80, 0x40, 0x20
_FLAGS = _COMPRESSED | _INFINITY | _LARGER


class Point(Protocol):
    """A point of G1 or G2, or one of the curve outside of them, as the library has it."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __mul__(self, scalar: Any, /) -> Self: ...
    def is_in_subgroup(self) -> bool:
        """Whether this is a point of the group."""

    def to_compressed_bytes(self) -> bytes:
        """The coordinate x, with flags."""

    def to_xy_bytes_be(self) -> bytes:
        """Both coordinates, the coefficient of 1 before that of u."""


def _library() -> Any:
    import py_arkworks_bls12381  # noqa: PLC0415 - few programs need it

    return py_arkworks_bls12381


class PointGroup(Struct, frozen=True):
    """G1 or G2, whose points have coordinates in an extension of this degree of the field."""

    name: str
    degree: int

    @property
    def size(self) -> int:
        """The bytes of a compressed point."""
        return self.degree * NUMBER_BYTES

    def decode(self, data: bytes) -> Point:
        """A compressed point of the curve. Raises `InvalidElement`.

        Whether it is in the group is not looked at.
        """
        flags = data[0] & _FLAGS if len(data) == self.size else 0
        if not flags & _COMPRESSED:
            raise InvalidElement
        if flags & _INFINITY:
            return self._infinity(data, _COMPRESSED | _INFINITY)
        if not any(data[1:]) and not data[0] & ~_FLAGS:
            raise InvalidElement  # x is zero: points of G1's curve, but of no use
        return self._read("from_compressed_bytes_unchecked", data)

    def validate(self, data: bytes) -> Point:
        """A compressed point of the group. Raises `InvalidElement`."""
        return self._in_group(self.decode(data))

    def decode_uncompressed(self, data: bytes) -> Point:
        """A point of the curve, by both of its coordinates. Raises `InvalidElement`."""
        if len(data) != 2 * self.size or data[0] & (_COMPRESSED | _LARGER):
            raise InvalidElement
        if data[0] & _INFINITY:
            return self._infinity(data, _INFINITY)
        if not any(data[: self.size]):
            raise InvalidElement
        return self._read("from_xy_bytes_unchecked_be", self._swapped(data))

    def validate_uncompressed(self, data: bytes) -> Point:
        """A point of the group, by both of its coordinates. Raises `InvalidElement`."""
        return self._in_group(self.decode_uncompressed(data))

    def encode(self, element: Point) -> bytes:
        """A point, compressed."""
        return element.to_compressed_bytes()

    def encode_uncompressed(self, element: Point) -> bytes:
        """A point, by both of its coordinates."""
        if self.is_identity(element):
            return bytes([_INFINITY]) + bytes(2 * self.size - 1)
        return self._swapped(element.to_xy_bytes_be())

    def add(self, first: Point, second: Point) -> Point:
        """The sum of two points."""
        return first + second

    def subtract(self, first: Point, second: Point) -> Point:
        """The difference of two points."""
        return first - second

    def multiply(self, element: Point, scalar: int) -> Point:
        """A point added to itself `scalar` times."""
        product: Point = element * _library().Scalar(scalar)
        return product

    def sum(self, points: Sequence[Point]) -> Point:
        """The sum of points."""
        total: Point = sum(points, start=self._points().identity())
        return total

    def combine(self, scalars: Sequence[int], points: Sequence[Point]) -> Point:
        """The sum of points, each multiplied by its scalar."""
        numbers = [_library().Scalar(scalar) for scalar in scalars]
        combined: Point = self._points().multiexp_unchecked(list(points), numbers)
        return combined

    def generator(self) -> Point:
        """The point that all others are multiples of."""
        point: Point = self._points()()
        return point

    def is_identity(self, point: Point) -> bool:
        """Whether this is the point at infinity."""
        return bool(point == self._points().identity())

    def hash_to(self, message: bytes) -> Point:
        """A point that nobody knows the logarithm of, as signatures by BLS have it (RFC 9380)."""
        domain = f"BLS_SIG_BLS12381{self.name}_XMD:SHA-256_SSWU_RO_NUL_"
        point: Point = self._points().hash_to_curve(message, domain.encode())
        return point

    def _points(self) -> Any:
        return getattr(_library(), f"{self.name}Point")

    def _read(self, method: str, data: bytes) -> Point:
        try:
            point: Point = getattr(self._points(), method)(data)
        except ValueError:
            raise InvalidElement from None
        return point

    def _infinity(self, data: bytes, flags: int) -> Point:
        if data[0] != flags or any(data[1:]):
            raise InvalidElement
        point: Point = self._points().identity()
        return point

    def _in_group(self, point: Point) -> Point:
        if not point.is_in_subgroup():
            raise InvalidElement
        return point

    def _swapped(self, data: bytes) -> bytes:
        """Both coordinates with their coefficients the other way round: the library's are.

        Of a point of G2 the library has x0, x1, y0, y1, with x = x0 + x1·u, and Zcash x1, x0, y1,
        y0.
        """
        numbers = [data[at : at + NUMBER_BYTES] for at in range(0, len(data), NUMBER_BYTES)]
        ends = range(self.degree, len(numbers) + 1, self.degree)
        return b"".join(one for end in ends for one in reversed(numbers[end - self.degree : end]))


G1 = PointGroup("G1", 1)
G2 = PointGroup("G2", 2)


def pairing(pairs: Sequence[tuple[Point, Point]]) -> bytes:
    """The product of pairings of a point of G1 with one of G2, as arkworks writes it.

    That is the twelve coefficients in Fp, each as 48 little-endian bytes.
    """
    first, second = zip(*pairs, strict=True)
    return bytes.fromhex(str(_library().GT.multi_pairing(list(first), list(second))))


def is_pairing_one(pairs: Sequence[tuple[Point, Point]]) -> bool:
    """Whether the product of pairings of a point of G1 with one of G2 is one."""
    first, second = zip(*pairs, strict=True)
    return bool(_library().GT.pairing_check(list(first), list(second)))


def verifies_min_sig(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature in G1 is that of a key in G2. Whatever is malformed is not."""
    try:
        public, signed = _public_key(G2, key), _in_group(G1, signature)
    except InvalidElement:
        return False
    # e(hash, key) = e(signature, generator) holds if the signature is the hash times the secret
    # number by which the key is a multiple of the generator. Written as
    # e(hash, key) · e(-signature, generator) = 1, it takes one final exponentiation instead of two.
    return is_pairing_one([(G1.hash_to(message), public), (-signed, G2.generator())])


def verifies_min_pk(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature in G2 is that of a key in G1. Whatever is malformed is not."""
    try:
        public, signed = _public_key(G1, key), _in_group(G2, signature)
    except InvalidElement:
        return False
    return is_pairing_one([(public, G2.hash_to(message)), (-G1.generator(), signed)])


def compressed(group: PointGroup, data: bytes) -> bytes:
    """The compressed form of a point of the curve in either form. Raises `InvalidElement`."""
    return group.encode(_point(group, data))


def _point(group: PointGroup, data: bytes) -> Point:
    return group.decode(data) if len(data) == group.size else group.decode_uncompressed(data)


def _in_group(group: PointGroup, data: bytes) -> Point:
    point = _point(group, data)
    if not point.is_in_subgroup():
        raise InvalidElement
    return point


def _public_key(group: PointGroup, data: bytes) -> Point:
    point = _in_group(group, data)
    # With the key at infinity, the signature at infinity would be right for every message.
    if group.is_identity(point):
        raise InvalidElement
    return point
