"""BN254 by EIP-197: its generators, and the properties of a pairing."""

import pytest

from nexus_tools.sui.localnet.crypto.curves.bn254 import (
    G1,
    ORDER,
    decode_g1,
    decode_g2,
    encode_g1,
    encode_g2,
    negate,
)
from nexus_tools.sui.localnet.crypto.curves.bn254_field import PRIME
from nexus_tools.sui.localnet.crypto.curves.bn254_pairing import (
    TARGET_BYTES,
    decode_target,
    encode_target,
    pairing,
)
from nexus_tools.sui.localnet.crypto.curves.extension_field import ONE
from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement

ONE_OF_G1 = (1, 2)
ONE_OF_G2 = (
    (
        10857046999023057135944570762232829481370756359578518086990519993285655852781,
        11559732032986387107991004021392285783925812861821192530917403151452391805634,
    ),
    (
        8495653923123431417604973247489272438418190587263600148770280649306958101930,
        4082367875863433681332203403145435568316851327593401208105741076214120093531,
    ),
)


def little(*numbers):
    return b"".join(number.to_bytes(32, "little") for number in numbers)


def test_generators_round_trip():
    first, second = little(1), little(*ONE_OF_G2[0])
    assert (encode_g1(ONE_OF_G1), decode_g1(first)) == (first, ONE_OF_G1)
    assert (encode_g2(ONE_OF_G2), decode_g2(second)) == (second, ONE_OF_G2)


def test_flag_selects_y():
    other = (1, PRIME - 2)
    assert encode_g1(other) == bytes([1, *[0] * 30, 0x80])
    assert decode_g1(encode_g1(other)) == other
    assert decode_g2(encode_g2(negate(ONE_OF_G2))) == negate(ONE_OF_G2)


def test_infinity_has_a_flag():
    assert encode_g1(None) == bytes([*[0] * 31, 0x40])
    assert encode_g2(None) == bytes([*[0] * 63, 0x40])
    assert [decode_g1(encode_g1(None)), decode_g2(encode_g2(None))] == [None, None]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        little(1)[:-1],
        little(PRIME),  # zero, not reduced
        little(4),  # 4³ + 3 has no square root
        little(1)[:-1] + b"\xc0",
        little(PRIME)[:-1] + bytes([little(PRIME)[-1] | 0x40]),
    ],
)
def test_invalid_bytes_are_not_points_of_g1(data):
    with pytest.raises(InvalidElement):
        decode_g1(data)


@pytest.mark.parametrize("x", range(1, 9))
def test_points_of_small_x_do_not_have_order_of_g2(x):
    with pytest.raises(InvalidElement):
        decode_g2(little(x, 0))


def test_pairing_is_bilinear_and_not_trivial():
    twice, thrice = (G1.multiply(factor, ONE_OF_G1) for factor in (2, 3))
    assert pairing([(thrice, ONE_OF_G2)]) == pairing([(twice, ONE_OF_G2), (ONE_OF_G1, ONE_OF_G2)])
    assert pairing([(ONE_OF_G1, ONE_OF_G2), (ONE_OF_G1, negate(ONE_OF_G2))]) == ONE
    assert pairing([(ONE_OF_G1, ONE_OF_G2)]) != ONE
    assert pairing([(G1.multiply(ORDER - 1, ONE_OF_G1), negate(ONE_OF_G2))]) == pairing(
        [(ONE_OF_G1, ONE_OF_G2)]
    )


def test_pairing_with_infinity_is_one():
    assert pairing([(None, ONE_OF_G2), (ONE_OF_G1, None)]) == ONE
    assert pairing([]) == ONE


def test_target_group_elements_are_twelve_numbers():
    value = pairing([(ONE_OF_G1, ONE_OF_G2)])
    data = encode_target(value)
    assert len(data) == TARGET_BYTES
    assert decode_target(data + b"more") == value
    for wrong in (data[:-1], little(PRIME) + data[32:]):
        with pytest.raises(InvalidElement):
            decode_target(wrong)
