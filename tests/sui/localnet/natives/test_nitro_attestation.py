"""Attestations of AWS Nitro enclaves, from the framework's own tests."""

import json
from pathlib import Path

import pytest

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "nitro.json").read_text("utf-8"))
(WEATHER, NOW_MS), (SECOND, SECOND_MS) = (
    (bytes.fromhex(vector["bytes"]), vector["now_ms"]) for vector in VECTORS["attestations"]
)
MINUTE, HOUR = 60_000, 3_600_000

PARSE_ERROR, VERIFY_ERROR = 1, 2


@pytest.fixture
def load(call, ref):
    def run(data, now_ms, *, how=call):
        function = "load_nitro_attestation_internal"
        return how("nitro_attestation", function, ref(data), now_ms)

    return run


def test_genuine_attestation_is_accepted(load):
    module_id, timestamp, digest, registers, public_key, user_data, nonce = load(WEATHER, NOW_MS)
    assert module_id == b"i-06e4b98c6549ff803-enc0196373b195fb723"
    assert NOW_MS - MINUTE < timestamp < NOW_MS
    assert digest == b"SHA384"
    shown = {str(index): value.hex() for index, value in registers}
    assert shown == VECTORS["registers_of_the_first"]
    key = "e8e62201dbe293b703c759f653107acbc2c911fa1d2e66f2c747bec95971a2af"
    assert public_key == [[bytes.fromhex(key)]]
    assert (user_data, nonce) == ([[]], [[]])


def test_attestation_is_valid_while_its_certificates_are(call, load):
    for minutes in (-10, 0, 10):
        assert load(SECOND, SECOND_MS + minutes * MINUTE)[2] == b"SHA384"
    for hours in (-3, 3):
        assert load(SECOND, SECOND_MS + hours * HOUR, how=call.aborts) == VERIFY_ERROR
    assert load(SECOND, 2**64 - 1, how=call.aborts) == VERIFY_ERROR


def test_changed_attestation_is_rejected(call, load):
    changed = SECOND.replace(b"i-0f73a4b4cb74cc9f2", b"i-0f73a4b4cb74cc9f3")
    assert changed != SECOND
    assert load(changed, SECOND_MS, how=call.aborts) == VERIFY_ERROR
    assert load(SECOND[:-1] + b"\0", SECOND_MS, how=call.aborts) == VERIFY_ERROR
    assert load(SECOND[:-96] + bytes(96), SECOND_MS, how=call.aborts) == VERIFY_ERROR


def test_attestation_may_start_with_a_signature_tag(call, load):
    assert load(b"\xd2" + SECOND, SECOND_MS)[2] == b"SHA384"
    assert load(b"\xd3" + SECOND, SECOND_MS, how=call.aborts) == PARSE_ERROR


def test_malformed_attestation_aborts(call, load):
    for data in (b"", b"\0\0", b"\xa0", SECOND[:-1], b"\x83" + SECOND[1:]):
        assert load(data, SECOND_MS, how=call.aborts) == PARSE_ERROR


def test_costs_match_the_protocol(call, load):
    load(WEATHER, NOW_MS)
    parsing = 2_650 + 50 * len(WEATHER)
    assert call.runtime.gas.used == parsing + 2_481_600 + 4 * 2_618_450


def test_malformed_attestation_is_not_charged_for_verification(call, load):
    load(b"\0\0", NOW_MS, how=call.aborts)
    assert call.runtime.gas.used == 2_650 + 50 * 2
