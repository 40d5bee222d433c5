"""`sui::groth16`: keys and proofs of the framework's own tests, over both curves."""

import pytest

CURVES = {"bls12381": 0, "bn254": 1}
PREPARE = {"bls12381": 53_838, "bn254": 82_010}
VERIFY = {"bls12381": (72_090, 8_213), "bn254": (115_502, 9_484)}
# The bytes of a point of G1 and of one of G2, and the point at infinity of G2.
SIZES = {"bls12381": (48, 96), "bn254": (32, 64)}
INFINITY = {"bls12381": b"\xc0" + bytes(95), "bn254": bytes(63) + b"\x40"}
ORDERS = {
    "bls12381": 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
    "bn254": 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001,
}


@pytest.fixture(params=CURVES)
def curve(request):
    return request.param


@pytest.fixture
def prepare(call, ref, curve):
    def prepare(key):
        return call("groth16", "prepare_verifying_key_internal", CURVES[curve], ref(key))

    return prepare


@pytest.fixture
def refused(call, ref, curve):
    """Return the abort code of preparing a key."""

    def refused(key):
        return call.aborts("groth16", "prepare_verifying_key_internal", CURVES[curve], ref(key))

    return refused


@pytest.fixture
def verifying_key(groth16, curve):
    return bytes.fromhex(groth16[curve]["verifying_key"])


@pytest.fixture
def proven(groth16, curve):
    """Return the four parts of a prepared key, public inputs, and a proof for them."""
    found = groth16[curve]["proven"]
    return [bytes.fromhex(encoded) for encoded in (*found["key"], found["inputs"], found["proof"])]


@pytest.fixture
def verify(call, ref, curve):
    def verify(parts):
        arguments = [ref(part) for part in parts]
        return call("groth16", "verify_groth16_proof_internal", CURVES[curve], *arguments)

    return verify


def test_key_is_prepared_as_in_framework_tests(prepare, verifying_key, groth16, curve):
    assert [part.hex() for part in prepare(verifying_key)] == groth16[curve]["prepared"]


def test_short_keys_are_rejected(refused, verifying_key):
    assert [refused(b""), refused(verifying_key[:-1]), refused(verifying_key[:100])] == [0, 0, 0]


def test_key_that_ends_in_its_point_count_is_rejected(refused, verifying_key, curve):
    g1, g2 = SIZES[curve]
    assert refused(verifying_key[: g1 + 3 * g2] + bytes(7)) == 0


def test_key_must_have_the_stated_number_of_points(refused, verifying_key, curve):
    g1, g2 = SIZES[curve]
    place = g1 + 3 * g2
    more = verifying_key[place] + 1
    assert refused(verifying_key[:place] + bytes([more]) + verifying_key[place + 1 :]) == 0


def test_key_with_invalid_points_is_rejected(refused, verifying_key, curve):
    g1, g2 = SIZES[curve]
    for start, size in ((0, g1), (g1, g2), (g1 + g2, g2), (g1 + 2 * g2, g2)):
        wrong = verifying_key[:start] + b"\xff" * size + verifying_key[start + size :]
        assert refused(wrong) == 0


def test_bytes_after_a_key_are_checked_only_for_bls12381(call, ref, groth16):
    outcomes = {}
    for name, number in CURVES.items():
        key = bytes.fromhex(groth16[name]["verifying_key"]) + b"\0"
        if name == "bls12381":
            outcomes[name] = call.aborts(
                "groth16", "prepare_verifying_key_internal", number, ref(key)
            )
        else:
            prepared = call("groth16", "prepare_verifying_key_internal", number, ref(key))
            outcomes[name] = [part.hex() for part in prepared]
    assert outcomes == {"bls12381": 0, "bn254": groth16["bn254"]["prepared"]}


def test_proof_verifies_with_its_inputs_and_key(verify, proven):
    assert verify(proven) is True


@pytest.mark.parametrize("part", range(6))
def test_missing_or_changed_part_does_not_verify(verify, proven, part):
    data = proven[part]
    for wrong in (b"", data[:-1], data[:-32], bytes(len(data)), bytes([data[0] ^ 1]) + data[1:]):
        assert verify([*proven[:part], wrong, *proven[part + 1 :]]) is False


@pytest.mark.parametrize("part", [2, 3])
def test_points_at_infinity_change_the_key(verify, proven, curve, part):
    assert verify([*proven[:part], INFINITY[curve], *proven[part + 1 :]]) is False


def test_inputs_must_be_less_than_the_order(verify, proven, curve):
    number = int.from_bytes(proven[4], "little")
    inputs = [number + ORDERS[curve], ORDERS[curve]]
    assert all(
        verify([*proven[:4], value.to_bytes(32, "little"), proven[5]]) is False for value in inputs
    )


def test_at_most_eight_public_inputs_are_accepted(call, ref, verify, proven, curve):
    assert verify([*proven[:4], bytes(32 * 8), proven[5]]) is False
    arguments = [ref(part) for part in (*proven[:4], bytes(32 * 8 + 1), proven[5])]
    function = "verify_groth16_proof_internal"
    assert call.aborts("groth16", function, CURVES[curve], *arguments) == 2


def test_two_curves_are_supported(call, ref):
    assert call.aborts("groth16", "prepare_verifying_key_internal", 2, ref(b"")) == 1
    parts = [ref(b"")] * 6
    assert call.aborts("groth16", "verify_groth16_proof_internal", 2, *parts) == 1
    assert call.runtime.gas.used == 2 * 100


def test_preparation_cost_is_the_same_for_all_keys(call, refused, curve):
    refused(b"")
    assert call.runtime.gas.used == PREPARE[curve]


@pytest.mark.parametrize(("size", "count"), [(0, 0), (32, 1), (33, 2), (256, 8)])
def test_verification_cost_depends_on_inputs(call, verify, proven, curve, size, count):
    verify([*proven[:4], bytes(size), proven[5]])
    base, cost_per_input = VERIFY[curve]
    assert call.runtime.gas.used == base + cost_per_input * count + 2 * size
