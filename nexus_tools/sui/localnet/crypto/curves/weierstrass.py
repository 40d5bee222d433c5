"""The curves secp256k1 and secp256r1, with the operations that recover a public key.

Source: SEC 1 version 2.0, sections 2.2.1, 2.3.4 and 4.1.6; SEC 2, sections 2.4.1 and 2.4.2. Points
are affine. A recovery takes about ten milliseconds.
"""

from msgspec import Struct

Point = tuple[int, int] | None
"""The affine coordinates of a point, or None for the point at infinity."""


class InvalidElement(Exception):  # noqa: N818 - the name states the cause
    """Bytes that are not a valid group element, or a scalar without an inverse."""


class NoPublicKey(Exception):  # noqa: N818 - the name states the cause
    """A signature for which no public key exists."""


class Curve(Struct, frozen=True):
    """The curve y² = x³ + ax + b modulo `prime`, with a generator whose `order` is prime."""

    prime: int
    a: int
    b: int
    order: int
    generator: tuple[int, int]

    def add(self, first: Point, second: Point) -> Point:
        """Return the sum of two points.

        For example, on y² = x³ + 2x + 2 modulo 17, (5, 1) + (5, 1) is (6, 3).
        """
        if first is None or second is None:
            return first or second
        (x1, y1), (x2, y2) = first, second
        if x1 == x2 and (y1 + y2) % self.prime == 0:
            return None
        if first == second:
            slope = (3 * x1 * x1 + self.a) * pow(2 * y1, -1, self.prime)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, self.prime)
        x = (slope * slope - x1 - x2) % self.prime
        return x, (slope * (x1 - x) - y1) % self.prime

    def multiply(self, scalar: int, point: Point) -> Point:
        """Return a point multiplied by a scalar."""
        total: Point = None
        while scalar:
            if scalar & 1:
                total = self.add(total, point)
            point = self.add(point, point)
            scalar >>= 1
        return total

    def lift(self, x: int, *, odd: bool) -> tuple[int, int]:
        """Return the point with this x and an odd or even y. Raises `NoPublicKey`."""
        square = (x * x * x + self.a * x + self.b) % self.prime
        y = pow(square, (self.prime + 1) // 4, self.prime)  # correct, as the prime is 3 modulo 4
        if x >= self.prime or y * y % self.prime != square:
            raise NoPublicKey
        return x, y if y % 2 == odd else self.prime - y

    def recover(self, digest: bytes, signature: bytes, recovery_id: int) -> bytes:
        """Recover the compressed public key from a signature r || s. Raises `NoPublicKey`."""
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        if not (0 < r < self.order and 0 < s < self.order):
            raise NoPublicKey
        nonce_point = self.lift(r + self.order * (recovery_id >> 1), odd=bool(recovery_id & 1))
        # The signer computes s = (message + r · secret) / nonce. So the public key, which is secret
        # · G, is (s · nonce point - message · G) / r.
        inverse = pow(r, -1, self.order)
        message = int.from_bytes(digest, "big")
        key = self.add(
            self.multiply(s * inverse % self.order, nonce_point),
            self.multiply(-message * inverse % self.order, self.generator),
        )
        if key is None:
            raise NoPublicKey
        return compress(key)


def compress(point: tuple[int, int]) -> bytes:
    """Compress a point to 33 bytes, which are the parity of y, and x."""
    return bytes([2 + point[1] % 2]) + point[0].to_bytes(32, "big")


SECP256K1 = Curve(
    prime=2**256 - 2**32 - 977,
    a=0,
    b=7,
    order=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    generator=(
        0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
        0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
    ),
)
SECP256R1 = Curve(
    prime=2**256 - 2**224 + 2**192 + 2**96 - 1,
    a=-3,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    order=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    generator=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
)
