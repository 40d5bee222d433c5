"""ristretto255 by RFC 9496; ECVRF by the vectors of `fastcrypto` and of the framework's tests."""

import json
from pathlib import Path

import pytest

from nexus_tools.sui.localnet.crypto.curves import ristretto255
from nexus_tools.sui.localnet.crypto.curves.edwards25519 import BASE, ORDER, combine, negate
from nexus_tools.sui.localnet.crypto.curves.ristretto255 import decode, encode

VECTORS = json.loads(
    (Path(__file__).parents[3] / "vectors" / "ristretto255.json").read_text("utf-8")
)
MULTIPLES = VECTORS["multiples_of_the_generator"]

HELLO = b"Hello, world!"
KEY = "1ea6f0f467574295a2cd5d21a3fd3a712ade354d520d3bd0fe6088d7b7c2e00e"
PROOF = (
    "d8ad2eafb4f2eaf317447726e541359f26dfce248431fe09984fdc73144abb6c"
    "eb006c57a29a742eae5a81dd04239870"
    "769e310a81046cbbaff8b0bd27a6d6affee167ebba50549b58ffdf9aa192f506"
)
OUTPUT = (
    "4fad431c7402fa1d4a7652e975aeb9a2b746540eca0b1b1e59c8d19c14a77019"
    "18a8249136e355455b8bc73851f7fc62c84f2e39f685b281e681043970026ed8"
)
# Another proof of fastcrypto's: for the input 01020304, with the secret key of the generator's
# multiple.
SECRET = "b057530c45b7b0f4b96f9b21b011072b2a513f45dd9537ad796acf571055550f"
SECOND_PROOF = (
    "2640d12c11a372c726348d60ec74ac80320960ba541fb3e66af0a21590c0a75b"
    "f5ccf408d5070c5de77f87c733512f57"
    "5b4a03511d0031dc2e78ab1582fbbef919b52732c8cb1f44b27ad1d1293dec0f"
)
SECOND_OUTPUT = (
    "84588b918a6c9f5b8b74e56a305bb1c2d44e73f68457e991a1dc8defd51672c3"
    "6b07a2fa95b9f1e701d0152b35d373ab8c48468f0de4bb5abfe84504319fd00c"
)


@pytest.fixture
def verify(call, ref):
    """Verify a proof as Move code does; all inputs except `alpha` are in hexadecimal digits."""

    def run(output=OUTPUT, alpha=HELLO, key=KEY, proof=PROOF, *, how=call):
        given = (bytes.fromhex(output), alpha, bytes.fromhex(key), bytes.fromhex(proof))
        return how("ecvrf", "ecvrf_verify", *map(ref, given))

    return run


# --- The group


@pytest.mark.parametrize(("number", "encoding"), list(enumerate(MULTIPLES)))
def test_multiples_of_the_generator(number, encoding):
    element = combine(number, BASE, 0, BASE)
    assert encode(element).hex() == encoding
    assert encode(decode(bytes.fromhex(encoding))).hex() == encoding


@pytest.mark.parametrize("encoding", [*VECTORS["invalid_encodings"], "", "00" * 31, "00" * 33])
def test_invalid_element_encodings_are_rejected(encoding):
    with pytest.raises(ValueError, match="encoding"):
        decode(bytes.fromhex(encoding))


@pytest.mark.parametrize("vector", VECTORS["from_uniform_bytes"])
def test_elements_from_uniform_bytes(vector):
    element = ristretto255.from_uniform(bytes.fromhex(vector["bytes"]))
    assert encode(element).hex() == vector["element"]


def test_sums_of_two_multiples():
    seven = decode(bytes.fromhex(MULTIPLES[7]))
    assert encode(combine(1, seven, 5, BASE)).hex() == MULTIPLES[12]
    assert encode(combine(ORDER + 3, BASE, 0, seven)).hex() == MULTIPLES[3]
    assert encode(combine(2, seven, 3, negate(BASE))).hex() == MULTIPLES[11]


# --- The function


def test_valid_proof_of_output_verifies(verify):
    assert verify() is True


def test_proof_by_key_from_secret_verifies(verify):
    secret = int.from_bytes(bytes.fromhex(SECRET), "little")
    key = encode(combine(secret, BASE, 0, BASE)).hex()
    assert verify(SECOND_OUTPUT, bytes([1, 2, 3, 4]), key, SECOND_PROOF) is True


def test_invalid_proofs_do_not_verify(verify):
    assert verify(output="11" * 64) is False
    assert verify(alpha=b"Farewell, world!") is False
    assert verify(key=MULTIPLES[1]) is False
    assert verify(proof=MULTIPLES[1] + PROOF[64:]) is False


def test_zero_key_proves_nothing(verify):
    assert verify(key="00" * 32) is False


def test_malformed_output_key_or_proof_aborts(call, verify):
    too_large = ORDER.to_bytes(32, "little").hex()
    assert verify(output="11" * 63, how=call.aborts) == 1
    assert verify(key="01" + "00" * 31, how=call.aborts) == 2
    assert verify(key=KEY[2:], how=call.aborts) == 2
    assert verify(proof=PROOF[2:], how=call.aborts) == 3
    assert verify(proof=PROOF + "00", how=call.aborts) == 3
    assert verify(proof="01" + "00" * 31 + PROOF[64:], how=call.aborts) == 3
    assert verify(proof=PROOF[:96] + too_large, how=call.aborts) == 3


def test_costs_match_the_protocol(call, verify):
    verify(alpha=bytes(129))
    assert call.runtime.gas.used == 4_848 + 2 * 129 + 2 * 2
