"""Extension fields of degree twelve, whose elements are results of pairings.

BLS12-381 and BN254 use this tower of fields:

    Fp2 = Fp[u] / (u² + 1)
    Fp6 = Fp2[v] / (v³ - ξ), with ξ = a + u
    Fp12 = Fp6[w] / (w² - v)

Because w⁶ = ξ, an element is also a polynomial in w with twelve coefficients in Fp, modulo w¹² -
2a·w⁶ + a² + 1. Elements are stored as these polynomials, because one multiplication of long
integers multiplies two polynomials (Kronecker substitution). For example, with one byte for each
coefficient, (3 + 5w)(2 + 4w) is 0x0503 · 0x0402 = 0x141606, which is 6 + 22w + 20w².
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

_Number = TypeVar("_Number")

Element = tuple[int, ...]
"""The coefficients of w⁰ to w¹¹, each less than the prime."""

_DEGREE, _HALF = 12, 6
ONE: Element = (1, *[0] * (_DEGREE - 1))
_W: Element = (0, 1, *[0] * (_DEGREE - 2))


class ExtensionField:
    """The field with p¹² elements. `prime` is p, and `a` is the number in ξ = a + u."""

    def __init__(self, prime: int, a: int) -> None:
        self.prime = prime
        self._a = a
        self._slot = (2 * prime.bit_length() + 4 + 7) // 8  # bytes per number below 12p²

    def from_powers(self, coefficients: Sequence[int]) -> Element:
        """Return an element from its coefficients in Fp2 of w⁰ to w⁵, each as two numbers."""
        real, imaginary = coefficients[::2], coefficients[1::2]
        # Because w⁶ = ξ = a + u, u is w⁶ - a, and c + du is (c - ad) + d·w⁶.
        pairs = zip(real, imaginary, strict=True)
        return (
            *[
                (constant - self._a * u_coefficient) % self.prime
                for constant, u_coefficient in pairs
            ],
            *imaginary,
        )

    def to_powers(self, element: Element) -> list[int]:
        """Return the coefficients of an element in the form that `from_powers` accepts."""
        pairs = zip(element[:_HALF], element[_HALF:], strict=True)
        return [
            number
            for constant, u_coefficient in pairs
            for number in ((constant + self._a * u_coefficient) % self.prime, u_coefficient)
        ]

    def multiply(self, first: Element, second: Element) -> Element:
        """Return the product of two elements."""
        slot = self._slot
        packed = self._pack(first) * self._pack(second)
        data = packed.to_bytes(2 * _DEGREE * slot, "little")
        product = [
            int.from_bytes(data[start : start + slot], "little")
            for start in range(0, (2 * _DEGREE - 1) * slot, slot)
        ]
        # Reduce from the highest power to the lowest, because w¹² = 2a·w⁶ - (a² + 1) may add
        # another high power.
        double, norm = 2 * self._a, self._a * self._a + 1
        for power in range(2 * _DEGREE - 2, _DEGREE - 1, -1):
            product[power - _HALF] += double * product[power]
            product[power - _DEGREE] -= norm * product[power]
        return tuple([number % self.prime for number in product[:_DEGREE]])

    def _pack(self, element: Element) -> int:
        slot = self._slot
        return int.from_bytes(
            b"".join([coefficient.to_bytes(slot, "little") for coefficient in element]), "little"
        )

    def power(self, element: Element, exponent: int) -> Element:
        """Return an element raised to the power `exponent`."""
        result = ONE
        for bit in f"{exponent:b}":
            result = self.multiply(result, result)
            if bit == "1":
                result = self.multiply(result, element)
        return result

    def conjugate(self, element: Element) -> Element:
        """Return an element raised to the power p⁶.

        The result is the inverse of an element whose norm over Fp6 is one.
        """
        return tuple(
            [
                -coefficient % self.prime if index & 1 else coefficient
                for index, coefficient in enumerate(element)
            ]
        )

    def frobenius(self, element: Element, times: int = 1) -> Element:
        """Raise an element to the power p, `times` times."""
        for _ in range(times):
            # In a field of characteristic p, the p-th power of a sum is the sum of the p-th powers
            # of its terms. The p-th power of a number in Fp is the number itself. So only the
            # powers of w change.
            images = zip(element, self._images, strict=True)
            scaled = [[coefficient * part for part in image] for coefficient, image in images]
            element = tuple([sum(parts) % self.prime for parts in zip(*scaled, strict=True)])
        return element

    @cached_property
    def _images(self) -> list[Element]:
        """The powers w⁰ to w¹¹, each raised to the power p."""
        image, images = self.power(_W, self.prime), [ONE]
        for _ in range(_DEGREE - 1):
            images.append(self.multiply(images[-1], image))
        return images

    def inverse(self, element: Element) -> Element:
        """Return the multiplicative inverse of an element. The inverse of zero is zero."""
        # The product of all conjugates of an element over a smaller field is in the smaller field.
        # The code thus reduces the inverse in Fp12 to inverses in Fp6, Fp2 and finally Fp, which is
        # fast. `rest` is the product of the other conjugates.
        conjugate = self.conjugate(element)
        in_fp6 = self.multiply(element, conjugate)
        others = self.multiply(self.frobenius(in_fp6, 2), self.frobenius(in_fp6, 4))
        in_fp2 = self.multiply(in_fp6, others)
        rest = self.multiply(others, self.frobenius(in_fp2))
        norm = self.multiply(in_fp6, rest)[0]
        scale = pow(norm, self.prime - 2, self.prime)
        return tuple(
            [coefficient * scale % self.prime for coefficient in self.multiply(conjugate, rest)]
        )


# The order of the powers of w in arkworks: 1, v, v², w, vw and v²w, with v = w².
_TOWER_POWERS = (0, 2, 4, 1, 3, 5)


def from_tower_order(numbers: Sequence[_Number]) -> list[_Number]:
    """Convert coefficients in the order of arkworks to the order of the powers of w."""
    indices = map(_TOWER_POWERS.index, range(_HALF))
    return [number for index in indices for number in numbers[2 * index : 2 * index + 2]]


def to_tower_order(numbers: Sequence[_Number]) -> list[_Number]:
    """Convert coefficients in the order of the powers of w to the order of arkworks."""
    return [number for power in _TOWER_POWERS for number in numbers[2 * power : 2 * power + 2]]
