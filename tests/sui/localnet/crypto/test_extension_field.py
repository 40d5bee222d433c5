"""Fp12 by the laws of all fields, for both curves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.sui.localnet.crypto.curves.bls12381 import PRIME as BLS12381_PRIME
from nexus_tools.sui.localnet.crypto.curves.bn254_field import PRIME as BN254_PRIME
from nexus_tools.sui.localnet.crypto.curves.extension_field import (
    ONE,
    ExtensionField,
    from_tower_order,
    to_tower_order,
)

FIELDS = st.sampled_from([ExtensionField(BLS12381_PRIME, 1), ExtensionField(BN254_PRIME, 9)])
ZERO = (0,) * 12
W = (0, 1, *[0] * 10)


@st.composite
def elements(draw, count):
    field = draw(FIELDS)
    numbers = st.integers(0, field.prime - 1) | st.sampled_from([0, 1, field.prime - 1])
    return field, *[draw(st.tuples(*[numbers] * 12)) for _ in range(count)]


@given(elements(3))
def test_product_is_associative_and_commutative(drawn):
    field, one, other, third = drawn
    product = field.multiply(field.multiply(one, other), third)
    assert product == field.multiply(one, field.multiply(third, other))


@given(elements(1))
def test_all_elements_except_zero_have_an_inverse(drawn):
    field, one = drawn
    assert field.multiply(one, field.inverse(one)) == (ZERO if one == ZERO else ONE)


@pytest.mark.parametrize(("prime", "a"), [(BLS12381_PRIME, 1), (BN254_PRIME, 9)])
def test_u_squared_and_w_to_the_sixth_have_expected_values(prime, a):
    field = ExtensionField(prime, a)
    u = field.from_powers([0, 1, *[0] * 10])
    assert field.multiply(u, u) == (prime - 1, *ZERO[1:])
    assert field.power(W, 6) == field.from_powers([a, 1, *[0] * 10])


@given(elements(2))
def test_frobenius_respects_products_and_has_order_twelve(drawn):
    field, one, other = drawn
    product = field.frobenius(field.multiply(one, other))
    assert product == field.multiply(field.frobenius(one), field.frobenius(other))
    assert field.frobenius(one, 12) == one
    assert field.frobenius(one, 6) == field.conjugate(one)


@given(elements(1))
def test_coefficients_round_trip(drawn):
    field, one = drawn
    powers = field.to_powers(one)
    assert field.from_powers(powers) == one
    assert from_tower_order(to_tower_order(powers)) == powers


def test_arkworks_order_has_even_powers_of_w_first():
    powers = [number for power in range(6) for number in (power, power)]
    assert to_tower_order(powers)[::2] == [0, 2, 4, 1, 3, 5]
