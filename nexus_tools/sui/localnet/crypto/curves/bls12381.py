"""BLS12-381: scalars, the groups G1 and G2 with their pairing, and BLS signatures.

The library `py_arkworks_bls12381` does the arithmetic. The library is imported when a point is
first used. This module parses bytes as strictly as blst, which Sui uses. A BLS signature is a point
of G1 or G2, and its key is a point of the other group.

Sources:

* curves: the IETF's draft on pairing-friendly curves, section 4.2.1.

* encoding: appendix C of that draft, which defines the format of Zcash.

* hashing to points: RFC 9380.

* signatures: the IETF's draft on BLS signatures, sections 2.5 and 2.7, with the suites
  `BLS_SIG_…_NUL_`.
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
    """The integers modulo the order of the groups, as 32 big-endian bytes."""

    def decode(self, data: bytes) -> int:
        """Return the scalar in 32 bytes, reduced modulo the order. Raises `InvalidElement`."""
        if len(data) != SCALAR_BYTES:
            raise InvalidElement
        return int.from_bytes(data, "big") % ORDER

    def validate(self, data: bytes) -> int:
        """Return the scalar in 32 bytes.

        Raises `InvalidElement` if the number is not less than the order.
        """
        if int.from_bytes(data, "big") >= ORDER:
            raise InvalidElement
        return self.decode(data)

    def encode(self, element: int) -> bytes:
        """Return a scalar as bytes."""
        return element.to_bytes(SCALAR_BYTES, "big")

    def add(self, first: int, second: int) -> int:
        """Return the sum of two scalars."""
        return (first + second) % ORDER

    def subtract(self, first: int, second: int) -> int:
        """Return the difference of two scalars."""
        return (first - second) % ORDER

    def multiply(self, element: int, scalar: int) -> int:
        """Return the product of two scalars."""
        return element * scalar % ORDER

    def invert(self, scalar: int) -> int:
        """Return the multiplicative inverse of a scalar. Raises `InvalidElement` for zero."""
        if not scalar:
            raise InvalidElement
        return pow(scalar, -1, ORDER)


SCALARS = Scalars()


# The flags are the three highest bits of the first byte. These bits are unused, because a number
# below the prime has only 381 of 384 bits. A compressed point contains only x, so `_LARGER` selects
# y or -y.
_COMPRESSED, _INFINITY, _LARGER = 0x80, 0x40, 0x20
_FLAGS = _COMPRESSED | _INFINITY | _LARGER


class Point(Protocol):
    """A point on the curve of G1 or G2, as the library represents it."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __mul__(self, scalar: Any, /) -> Self: ...
    def is_in_subgroup(self) -> bool:
        """Return whether the point is in the subgroup G1 or G2."""

    def to_compressed_bytes(self) -> bytes:
        """Return the coordinate x with the flags."""

    def to_xy_bytes_be(self) -> bytes:
        """Return both coordinates.

        In each coordinate, the coefficient of 1 comes before the coefficient of u.
        """


def _library() -> Any:
    import py_arkworks_bls12381  # noqa: PLC0415 - few programs need it

    return py_arkworks_bls12381


class PointGroup(Struct, frozen=True):
    """The group G1 or G2. `degree` is the degree of the field that contains the coordinates."""

    name: str
    degree: int

    @property
    def size(self) -> int:
        """The size of a compressed point in bytes."""
        return self.degree * NUMBER_BYTES

    def decode(self, data: bytes) -> Point:
        """Decompress a point on the curve. Raises `InvalidElement`.

        The method does not check whether the point is in the group.
        """
        flags = data[0] & _FLAGS if len(data) == self.size else 0
        if not flags & _COMPRESSED:
            raise InvalidElement
        if flags & _INFINITY:
            return self._infinity(data, _COMPRESSED | _INFINITY)
        if not any(data[1:]) and not data[0] & ~_FLAGS:
            raise InvalidElement  # points with x = 0 are on G1's curve but not in the group
        return self._read("from_compressed_bytes_unchecked", data)

    def validate(self, data: bytes) -> Point:
        """Decompress a point of the group. Raises `InvalidElement`."""
        return self._in_group(self.decode(data))

    def decode_uncompressed(self, data: bytes) -> Point:
        """Decode a point on the curve from both coordinates. Raises `InvalidElement`."""
        if len(data) != 2 * self.size or data[0] & (_COMPRESSED | _LARGER):
            raise InvalidElement
        if data[0] & _INFINITY:
            return self._infinity(data, _INFINITY)
        if not any(data[: self.size]):
            raise InvalidElement
        return self._read("from_xy_bytes_unchecked_be", self._swapped(data))

    def validate_uncompressed(self, data: bytes) -> Point:
        """Decode a point of the group from both coordinates. Raises `InvalidElement`."""
        return self._in_group(self.decode_uncompressed(data))

    def encode(self, element: Point) -> bytes:
        """Compress a point."""
        return element.to_compressed_bytes()

    def encode_uncompressed(self, element: Point) -> bytes:
        """Encode a point as both coordinates."""
        if self.is_identity(element):
            return bytes([_INFINITY]) + bytes(2 * self.size - 1)
        return self._swapped(element.to_xy_bytes_be())

    def add(self, first: Point, second: Point) -> Point:
        """Return the sum of two points."""
        return first + second

    def subtract(self, first: Point, second: Point) -> Point:
        """Return the difference of two points."""
        return first - second

    def multiply(self, element: Point, scalar: int) -> Point:
        """Return a point multiplied by a scalar."""
        product: Point = element * _library().Scalar(scalar)
        return product

    def sum(self, points: Sequence[Point]) -> Point:
        """Return the sum of points."""
        total: Point = sum(points, start=self._points().identity())
        return total

    def combine(self, scalars: Sequence[int], points: Sequence[Point]) -> Point:
        """Return the sum of the points multiplied by their scalars."""
        numbers = [_library().Scalar(scalar) for scalar in scalars]
        point: Point = self._points().multiexp_unchecked(list(points), numbers)
        return point

    def generator(self) -> Point:
        """Return the generator of the group."""
        point: Point = self._points()()
        return point

    def is_identity(self, point: Point) -> bool:
        """Return whether a point is the point at infinity."""
        return bool(point == self._points().identity())

    def hash_to(self, message: bytes) -> Point:
        """Hash a message to a point, as BLS signatures do (RFC 9380)."""
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
        """Return both coordinates with their coefficients in reverse order, as in the library.

        For a G2 point with x = x0 + x1·u, the library has the order x0, x1, y0, y1. The Zcash
        format has the order x1, x0, y1, y0.
        """
        numbers = [
            data[start : start + NUMBER_BYTES] for start in range(0, len(data), NUMBER_BYTES)
        ]
        ends = range(self.degree, len(numbers) + 1, self.degree)
        return b"".join(
            number for end in ends for number in reversed(numbers[end - self.degree : end])
        )


G1 = PointGroup("G1", 1)
G2 = PointGroup("G2", 2)


def pairing(pairs: Sequence[tuple[Point, Point]]) -> bytes:
    """Return the product of the pairings of G1 and G2 points, encoded as in arkworks.

    The encoding has the twelve coefficients in Fp, each as 48 little-endian bytes.
    """
    first, second = zip(*pairs, strict=True)
    return bytes.fromhex(str(_library().GT.multi_pairing(list(first), list(second))))


def is_pairing_product_one(pairs: Sequence[tuple[Point, Point]]) -> bool:
    """Return whether the product of the pairings of G1 and G2 points is one."""
    first, second = zip(*pairs, strict=True)
    return bool(_library().GT.pairing_check(list(first), list(second)))


def verify_min_sig(key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a G1 signature is valid for a G2 key. Malformed inputs are not valid."""
    try:
        public_point, signature_point = _public_key(G2, key), _in_group(G1, signature)
    except InvalidElement:
        return False
    # e(hash, key) = e(signature, generator) holds if the signature is the hash times the secret
    # number, and the key is the generator times this secret number. The form e(hash, key) ·
    # e(-signature, generator) = 1 needs one final exponentiation instead of two.
    return is_pairing_product_one(
        [(G1.hash_to(message), public_point), (-signature_point, G2.generator())]
    )


def verify_min_pk(key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a G2 signature is valid for a G1 key. Malformed inputs are not valid."""
    try:
        public_point, signature_point = _public_key(G1, key), _in_group(G2, signature)
    except InvalidElement:
        return False
    return is_pairing_product_one(
        [(public_point, G2.hash_to(message)), (-G1.generator(), signature_point)]
    )


def compressed(group: PointGroup, data: bytes) -> bytes:
    """Compress an encoded point, which may already be compressed. Raises `InvalidElement`."""
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
    # If the key were the point at infinity, the signature at infinity would be valid for every
    # message.
    if group.is_identity(point):
        raise InvalidElement
    return point
