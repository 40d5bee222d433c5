"""BLS12-381: its numbers, and the scalars of its groups.

Source: the IETF's draft on pairing-friendly curves, section 4.2.1.
"""

from nexus_tools.localnet.natives.crypto.curves.errors import InvalidElement

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
