"""The optimal ate pairing of BN254.

Source: Vercauteren, "Optimal pairings" (eprint.iacr.org/2008/096), section IV.A; Fuentes-Castañeda,
Knapp and Rodríguez-Henríquez, "Faster hashing to G2" (2011), section 5, for the final
exponentiation, which gives the reduced pairing to the power of 2x(6x² + 3x + 1), as in arkworks.
"""

from collections.abc import Iterable
from functools import cache

from nexus_tools.sui.localnet.crypto.curves import bn254_field as fp2
from nexus_tools.sui.localnet.crypto.curves.bn254 import (
    NUMBER_BYTES,
    XI,
    TwistPoint,
    decode_number,
    negate,
    slope,
    third_point,
)
from nexus_tools.sui.localnet.crypto.curves.bn254_field import PRIME, Pair
from nexus_tools.sui.localnet.crypto.curves.extension_field import (
    ONE,
    Element,
    ExtensionField,
    from_tower_order,
    to_tower_order,
)
from nexus_tools.sui.localnet.crypto.curves.weierstrass import Point

_FIELD = ExtensionField(PRIME, XI[0])
# The number from which the curve is made: p = 36x⁴ + 36x³ + 24x² + 6x + 1, and the order of its
# groups r = 36x⁴ + 36x³ + 18x² + 6x + 1.
_X = 4965661367192848881
# Without the highest bit: the loop begins with the point itself.
_LOOP = bin(6 * _X + 2)[3:]

TARGET_BYTES = 12 * NUMBER_BYTES

_Point2 = tuple[Pair, Pair]


def pairing(pairs: Iterable[tuple[Point, TwistPoint]]) -> Element:
    """The product of the pairings of points of G1 with points of G2."""
    # A Miller loop: a point of G2 is multiplied by 6x + 2, bit by bit, and the lines that are met
    # on the way are evaluated at the point of G1 and multiplied. All pairs go together, because
    # the squarings, the dear part, are then shared, and so is the final exponentiation. A pair with
    # a point at infinity has the pairing 1.
    whole = [(one, other) for one, other in pairs if one is not None and other is not None]
    value = ONE
    points = [other for _, other in whole]
    for bit in _LOOP:
        value = _FIELD.multiply(value, value)
        for place, (at, other) in enumerate(whole):
            value, points[place] = _step(value, points[place], points[place], at)
            if bit == "1":
                value, points[place] = _step(value, points[place], other, at)
    for point, (at, other) in zip(points, whole, strict=True):
        # Two more lines, through the point times p and times -p².
        first = _frobenius(other)
        second = negate(_frobenius(first))
        assert second is not None
        value, last = _step(value, point, first, at)
        value, _ = _step(value, last, second, at)
    return _final_exponentiation(value)


def _step(
    value: Element, point: _Point2, other: _Point2, at: tuple[int, int]
) -> tuple[Element, _Point2]:
    """A Miller step: the sum of two points, and the value times their line where it is `at`.

    With the twist, (x, y) stands for (xw², yw³).
    """
    by = slope(point, other)
    # y - λx·w + (λx₁ - y₁)·w³, for the line with the slope λ through (x₁w², y₁w³).
    constant = fp2.subtract(fp2.multiply(by, point[0]), point[1])
    line = _FIELD.from_powers((at[1], 0, *fp2.scale(by, -at[0]), 0, 0, *constant, 0, 0, 0, 0))
    return _FIELD.multiply(value, line), third_point(point, other, by)


@cache
def _frobenius_factors() -> tuple[Pair, Pair]:
    return fp2.power(XI, (PRIME - 1) // 3), fp2.power(XI, (PRIME - 1) // 2)


def _frobenius(point: _Point2) -> _Point2:
    """A point of G2 multiplied by p: its coordinates to the power of p, in the twist."""
    by_x, by_y = _frobenius_factors()
    return fp2.multiply(fp2.conjugate(point[0]), by_x), fp2.multiply(fp2.conjugate(point[1]), by_y)


def _final_exponentiation(value: Element) -> Element:
    # To the power of (p¹² - 1) / r, so that what differs by an r-th power becomes the same. First
    # to p⁶ - 1 and p² + 1, which Frobenius gives for little; then to the rest by powers of x.
    field = _FIELD
    value = field.multiply(field.conjugate(value), field.inverse(value))
    value = field.multiply(field.frobenius(value, 2), value)
    # From here on, conjugates are inverses.
    # What is left is the exponent 2x(6x² + 3x + 1)(p⁴ - p² + 1) / r. In powers of p it has small
    # coefficients, polynomials of x of degree three:
    #
    #     (12x³ + 12x² + 6x + 1) + (12x³ + 6x² + 4x)p
    #     + (12x³ + 6x² + 6x)p² + (12x³ + 6x² + 4x - 1)p³
    #
    # The comments say to which power `value` has been raised.
    inverse = field.conjugate(value)
    twice = field.power(value, 2 * _X)  # 2x
    six = field.multiply(field.multiply(twice, twice), twice)  # 6x
    six_squared = field.power(six, _X)  # 6x²
    twelve_cubed = field.power(six_squared, 2 * _X)  # 12x³
    middle = field.multiply(field.multiply(twelve_cubed, six_squared), six)  # 12x³ + 6x² + 6x
    outer = field.multiply(middle, field.conjugate(twice))  # 12x³ + 6x² + 4x
    result = field.multiply(field.multiply(middle, six_squared), value)  # 12x³ + 12x² + 6x + 1
    for times, factor in ((1, outer), (2, middle), (3, field.multiply(outer, inverse))):
        result = field.multiply(result, field.frobenius(factor, times))
    return result


def decode_target(data: bytes) -> Element:
    """The element of Fp12 in the first 384 bytes, of any order. Raises `InvalidElement`."""
    starts = range(0, TARGET_BYTES, NUMBER_BYTES)
    tower = [decode_number(data[start : start + NUMBER_BYTES], PRIME) for start in starts]
    return _FIELD.from_powers(from_tower_order(tower))


def encode_target(element: Element) -> bytes:
    """An element of Fp12 as 384 bytes."""
    tower = to_tower_order(_FIELD.to_powers(element))
    return b"".join([number.to_bytes(NUMBER_BYTES, "little") for number in tower])
