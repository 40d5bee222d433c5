"""The optimal ate pairing of BN254.

Source: Vercauteren, "Optimal pairings" (eprint.iacr.org/2008/096), section IV.A; Fuentes-Castañeda,
Knapp and Rodríguez-Henríquez, "Faster hashing to G2" (2011), section 5, for the final
exponentiation. As in arkworks, the result is the reduced pairing raised to the power 2x(6x² + 3x +
1).
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
# The number x that defines the curve. The field has the order p = 36x⁴ + 36x³ + 24x² + 6x + 1. The
# groups have the order r = 36x⁴ + 36x³ + 18x² + 6x + 1.
_X = 4965661367192848881
# The bits of 6x + 2 without the highest bit, because the loop starts with the point itself.
_LOOP = bin(6 * _X + 2)[3:]

TARGET_BYTES = 12 * NUMBER_BYTES

_Point2 = tuple[Pair, Pair]


def pairing(pairs: Iterable[tuple[Point, TwistPoint]]) -> Element:
    """Return the product of the pairings of G1 points with G2 points."""
    # A Miller loop multiplies a G2 point by 6x + 2, bit by bit. The loop evaluates the line of each
    # step at the G1 point and multiplies the results. All pairs use one loop, so they share the
    # squarings, which are the expensive part, and the final exponentiation. If a point of a pair is
    # infinity, the pairing is 1.
    finite_pairs = [
        (g1_point, g2_point)
        for g1_point, g2_point in pairs
        if g1_point is not None and g2_point is not None
    ]
    value = ONE
    points = [g2_point for _, g2_point in finite_pairs]
    for bit in _LOOP:
        value = _FIELD.multiply(value, value)
        for index, (g1_point, g2_point) in enumerate(finite_pairs):
            value, points[index] = _step(value, points[index], points[index], g1_point)
            if bit == "1":
                value, points[index] = _step(value, points[index], g2_point, g1_point)
    for point, (g1_point, g2_point) in zip(points, finite_pairs, strict=True):
        # Add two more lines, through the G2 point times p and times -p².
        first = _frobenius(g2_point)
        second = negate(_frobenius(first))
        assert second is not None
        value, last = _step(value, point, first, g1_point)
        value, _ = _step(value, last, second, g1_point)
    return _final_exponentiation(value)


def _step(
    value: Element, point: _Point2, other: _Point2, g1_point: tuple[int, int]
) -> tuple[Element, _Point2]:
    """Do a Miller step: add two points, and multiply the value by their line at `g1_point`.

    On the twisted curve, (x, y) represents the point (xw², yw³).
    """
    slope_value = slope(point, other)
    # The line with the slope λ through (x₁w², y₁w³) is y - λx·w + (λx₁ - y₁)·w³.
    constant = fp2.subtract(fp2.multiply(slope_value, point[0]), point[1])
    line = _FIELD.from_powers(
        (g1_point[1], 0, *fp2.scale(slope_value, -g1_point[0]), 0, 0, *constant, 0, 0, 0, 0)
    )
    return _FIELD.multiply(value, line), third_point(point, other, slope_value)


@cache
def _frobenius_factors() -> tuple[Pair, Pair]:
    return fp2.power(XI, (PRIME - 1) // 3), fp2.power(XI, (PRIME - 1) // 2)


def _frobenius(point: _Point2) -> _Point2:
    """Return a G2 point multiplied by p, computed by raising (xw², yw³) to the power p."""
    x_factor, y_factor = _frobenius_factors()
    return fp2.multiply(fp2.conjugate(point[0]), x_factor), fp2.multiply(
        fp2.conjugate(point[1]), y_factor
    )


def _final_exponentiation(value: Element) -> Element:
    # Raise the value to the power (p¹² - 1) / r, so that values that differ by an r-th power become
    # equal. The factors p⁶ - 1 and p² + 1 come first, because they are cheap with Frobenius. The
    # code then computes the remaining factor with powers of x.
    field = _FIELD
    value = field.multiply(field.conjugate(value), field.inverse(value))
    value = field.multiply(field.frobenius(value, 2), value)
    # After this step, the conjugate of the value is its inverse. The remaining exponent is 2x(6x² +
    # 3x + 1)(p⁴ - p² + 1) / r. If the exponent is written in powers of p, its coefficients are
    # small, because they are polynomials in x of degree three.
    #
    #     (12x³ + 12x² + 6x + 1) + (12x³ + 6x² + 4x)p
    #     + (12x³ + 6x² + 6x)p² + (12x³ + 6x² + 4x - 1)p³.
    #
    # Each comment below is the power of `value` that the line computes.
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
    """Decode the element of Fp12 in the first 384 bytes. Raises `InvalidElement`."""
    starts = range(0, TARGET_BYTES, NUMBER_BYTES)
    tower = [decode_number(data[start : start + NUMBER_BYTES], PRIME) for start in starts]
    return _FIELD.from_powers(from_tower_order(tower))


def encode_target(element: Element) -> bytes:
    """Encode an element of Fp12 as 384 bytes."""
    tower = to_tower_order(_FIELD.to_powers(element))
    return b"".join([number.to_bytes(NUMBER_BYTES, "little") for number in tower])
