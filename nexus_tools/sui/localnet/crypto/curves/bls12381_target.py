"""The group GT of BLS12-381, whose elements are results of the pairing.

Sui writes the group operation as addition. Elements are encoded as in blst, which has the
coefficients in Fp2 of w⁰ to w⁵ as big-endian numbers. arkworks uses a different order and
little-endian numbers.
"""

from nexus_tools.sui.localnet.crypto.curves.bls12381 import NUMBER_BYTES, PRIME
from nexus_tools.sui.localnet.crypto.curves.extension_field import (
    Element,
    ExtensionField,
    from_tower_order,
)
from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement

TARGET_BYTES = 12 * NUMBER_BYTES


class TargetGroup:
    """The group GT. The methods accept all elements of Fp12 and do not check membership in GT."""

    def __init__(self) -> None:
        self._field = ExtensionField(PRIME, 1)

    def decode(self, data: bytes) -> Element:
        """Return an element of Fp12. Raises `InvalidElement`."""
        numbers = [int.from_bytes(number_bytes, "big") for number_bytes in _numbers(data)]
        if len(data) != TARGET_BYTES or max(numbers) >= PRIME:
            raise InvalidElement
        return self._field.from_powers(numbers)

    def encode(self, element: Element) -> bytes:
        """Return an element as bytes."""
        powers = self._field.to_powers(element)
        return b"".join([number.to_bytes(NUMBER_BYTES, "big") for number in powers])

    def add(self, first: Element, second: Element) -> Element:
        """Return the sum of two elements, which is their product in the field."""
        return self._field.multiply(first, second)

    def subtract(self, first: Element, second: Element) -> Element:
        """Return the difference of two elements."""
        return self._field.multiply(first, self._field.inverse(second))

    def multiply(self, element: Element, scalar: int) -> Element:
        """Return an element multiplied by a scalar."""
        return self._field.power(element, scalar)


GT = TargetGroup()


def from_arkworks(data: bytes) -> bytes:
    """Convert an element from the encoding of arkworks to the encoding of blst."""
    numbers = [number_bytes[::-1] for number_bytes in _numbers(data)]
    return b"".join(from_tower_order(numbers))


def _numbers(data: bytes) -> list[bytes]:
    return [data[start : start + NUMBER_BYTES] for start in range(0, len(data), NUMBER_BYTES)]
