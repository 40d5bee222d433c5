"""The delay function, with the values of the framework's own tests and of the Chia network."""

import json
from pathlib import Path

import pytest

from nexus_tools.sui.localnet.crypto.class_group import (
    DISCRIMINANT,
    QuadraticForm,
    signed_bytes,
)
from nexus_tools.sui.localnet.crypto.vdf import hash_to_prime

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "vdf.json").read_text("utf-8"))
INPUT, OUTPUT, PROOF = (VECTORS["proof"][name] for name in ("input", "output", "proof"))
NEXT_OUTPUT = VECTORS["output_of_101_iterations"]
CHIA = VECTORS["chia"]


@pytest.fixture
def verify(call, ref):
    def run(source=INPUT, result=OUTPUT, proof=PROOF, iterations=100, *, how=call):
        forms = [ref(bytes.fromhex(form)) for form in (source, result, proof)]
        return how("vdf", "vdf_verify", *forms, iterations)

    return run


def form_of(encoding):
    return QuadraticForm.decode(bytes.fromhex(encoding))


def times(number, form, identity):
    total = identity
    for digit in f"{number:b}":
        total = total + total
        if digit == "1":
            total = total + form
    return total


@pytest.mark.parametrize("vector", VECTORS["hashes"])
def test_messages_are_hashed_to_forms(call, ref, vector):
    found = call("vdf", "hash_to_input", ref(bytes.fromhex(vector["message"])))
    assert found.hex() == vector["form"]


def test_valid_proof_of_output_verifies(verify):
    assert verify() is True
    assert verify(result=NEXT_OUTPUT, iterations=101) is True


def test_output_of_other_iterations_does_not_verify(verify):
    assert verify(result=NEXT_OUTPUT) is False
    assert verify(iterations=101) is False
    assert verify(iterations=0) is False


def test_wrong_proof_does_not_verify(verify):
    assert verify(proof=OUTPUT) is False


def test_form_outside_of_group_does_not_verify(verify):
    other = QuadraticForm(1, 1, 2).encode().hex()
    assert verify(source=other) is False
    assert verify(result=other) is False
    assert verify(proof=other) is False


def test_negative_form_does_not_verify(verify):
    form = form_of(INPUT)
    negative = QuadraticForm(-form.a, form.b, -form.c)
    assert verify(source=negative.encode().hex()) is False


def test_malformed_form_aborts(call, verify):
    for encoding in ("abcd", "", INPUT[:-2], INPUT + "00"):
        assert verify(source=encoding, how=call.aborts) == 0
        assert verify(result=encoding, how=call.aborts) == 0
        assert verify(proof=encoding, how=call.aborts) == 0


def test_proof_of_more_iterations_than_challenge_bits_verifies(verify):
    # The proof is not zero: it is the input times the quotient of 2**iterations and the challenge.
    iterations = 300
    source = form_of(INPUT)
    identity = QuadraticForm.of(1, 1)
    result = times(2**iterations, source, identity)
    discriminant = signed_bytes(DISCRIMINANT)
    length = bytes([len(discriminant) % 128 | 128, len(discriminant) // 128])
    counted = iterations.to_bytes(8, "little") + length + discriminant
    challenge = hash_to_prime(source.encode() + result.encode() + counted)
    proof = times(2**iterations // challenge, source, identity).encode().hex()
    assert verify(result=result.encode().hex(), proof=proof, iterations=iterations) is True


# --- The group


def test_doublings_match_framework_test():
    total = form_of(INPUT)
    for _ in range(100):
        total = total + total
    assert total == form_of(OUTPUT)
    assert total + total == form_of(NEXT_OUTPUT)


def test_proof_of_chia_network_verifies():
    discriminant = int(CHIA["discriminant"])

    def form(a, b):
        return QuadraticForm(a, b, (b * b - discriminant) // (4 * a))

    challenge, identity = int(CHIA["challenge"], 16), form(1, 1)
    remainder = pow(2, CHIA["iterations"], challenge)
    proof, result = (form(*map(int, CHIA[name])) for name in ("proof", "result"))
    total = times(challenge, proof, identity) + times(remainder, form(2, 1), identity)
    assert total == result


def test_reduction_matches_fastcrypto_test():
    assert QuadraticForm(41, 49, 16).reduced() == QuadraticForm(7, -1, 8)


def test_sum_of_form_and_inverse_is_identity():
    form = form_of(OUTPUT)
    assert form + QuadraticForm(form.a, -form.b, form.c) == QuadraticForm.of(1, 1)


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "00"), (127, "7f"), (128, "0080"), (-128, "80"), (-129, "ff7f")]
)
def test_numbers_are_in_twos_complement(number, expected):
    assert signed_bytes(number).hex() == expected


# --- The costs


def test_costs_match_the_protocol(call, ref, verify):
    call("vdf", "hash_to_input", ref(b""))
    assert call.runtime.gas.used == 100
    verify(result=INPUT)
    assert call.runtime.gas.used == 100 + 1_500
