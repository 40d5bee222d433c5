"""`sui::bls12381`: a signature of the framework's own tests, and one of Drand's round 2373935.

Source of the bytes that are not points: the tests of Ethereum's consensus (bls12-381-tests).
"""

import pytest

SCHEMES = {"min_sig": 44_064, "min_pk": 49_282}
OUTSIDE_G1 = "8" + "123456789abcdef0" * 5 + "123456789abcdef"
OUTSIDE_G2 = OUTSIDE_G1 + "0123456789abcdef" * 6


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


@pytest.fixture
def verify(call, ref, bls12381, scheme):
    """Return verify(signature=…, public_key=…, message=…), which replaces valid parts."""

    def verify(**others):
        parts = bls12381[scheme] | others
        data = [ref(bytes.fromhex(parts[name])) for name in ("signature", "public_key", "message")]
        return call("bls12381", f"bls12381_{scheme}_verify", *data)

    return verify


def test_signature_is_valid_only_for_its_message(verify):
    assert [verify(), verify(message="0201010101")] == [True, False]


@pytest.mark.parametrize("part", ["signature", "public_key"])
def test_short_points_and_points_off_the_curve_do_not_verify(verify, bls12381, scheme, part):
    data = bls12381[scheme][part]
    wrong = ["", data[:-2], data + "00", data[:-2] + "00", "00" + data[2:]]
    assert [verify(**{part: wrong_part}) for wrong_part in wrong] == [False] * 5


@pytest.mark.parametrize("part", ["signature", "public_key"])
def test_points_outside_of_the_group_do_not_verify(verify, bls12381, scheme, part):
    outside = OUTSIDE_G1 if len(bls12381[scheme][part]) == len(OUTSIDE_G1) else OUTSIDE_G2
    assert verify(**{part: outside}) is False


def test_point_at_infinity_is_not_a_valid_key(verify, bls12381, scheme):
    parts = bls12381[scheme]
    nothing = {
        name: "c0" + "00" * (len(parts[name]) // 2 - 1) for name in ("signature", "public_key")
    }
    assert verify(**nothing) is False


def test_uncompressed_points_verify(call, ref, bls12381):
    group, parts = bls12381["groups"]["uncompressed_g1"], bls12381["min_pk"]
    # The generator of G1 is the key of the secret 1, whose signature is the message's point.
    message = bytes.fromhex(parts["message"])
    signature = call("group_ops", "internal_hash_to", 2, ref(message))
    key = bytes.fromhex(group["generator"])
    arguments = ref(signature), ref(key), ref(message)
    assert call("bls12381", "bls12381_min_pk_verify", *arguments) is True


def test_verification_cost_depends_on_bytes_and_blocks(verify, call, scheme):
    verify(message="aa" * 65)
    assert call.runtime.gas.used == SCHEMES[scheme] + 2 * 65 + 2 * 2
