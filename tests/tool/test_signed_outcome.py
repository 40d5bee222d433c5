"""The bytes that a tool signs for the chain, compared with an independent BCS writer."""

import json
from hashlib import blake2b

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.tool import (
    Answer,
    Identity,
    Problem,
    SignatureRejectedError,
    SigningKey,
    check_answer,
    encode_ports,
)
from nexus_tools.tool.signing.signed_outcome import outcome_header, outcome_message

PRIVATE = Ed25519PrivateKey.from_private_bytes(b"\x03" * 32)
KEY = SigningKey.of_private(PRIVATE)
OTHER = SigningKey.of_private(Ed25519PrivateKey.from_private_bytes(b"\x04" * 32))
TOOL = "xyz.example.math.add@1"
INVOCATION = b"\xc3" * 32
ASKED = b'{"b": 2, "a": 1.50}'
REQUEST = {"nexus-invocation": "0x" + "c3" * 32, "nexus-tool": TOOL}
BODY = b'{"ok":{"result":3,"list":[1,2.50,"\xc3\xa4"]}}'
ANSWER = Answer("ok", {"result": 3, "list": [1, 2.5, "ä"]})

# Written by hand from `value.move` and the specification of BCS, with two entries by name. "list"
# has a list (variant 1) of one part with three texts. "result" has the one byte of 3 (variant 0).
PORTS = (
    b"\x02"
    + (b"\x04list" + b"\x01" + b"\x01" + b"\x03" + b"\x011" + b"\x032.5" + b'\x04"\xc3\xa4"')
    + (b"\x06result" + b"\x00" + b"\x01" + b"3")
)
INPUTS = b"\x02" + (b"\x01a" + b"\x00" + b"\x031.5") + (b"\x01b" + b"\x00" + b"\x012")
MESSAGE = (
    b"nexus_tools::outcome"
    + INVOCATION
    + blake2b(INPUTS, digest_size=32).digest()
    + b"\x02ok"
    + blake2b(PORTS, digest_size=32).digest()
)


def uleb128(number):
    digits = []
    while True:
        number, digit = divmod(number, 128)
        digits.append(digit + (128 if number else 0))
        if not number:
            return bytes(digits)


def sized(data):
    return uleb128(len(data)) + data


def header(body=BODY, key=KEY, signer=TOOL, request=REQUEST, asked=ASKED, status=200):
    return outcome_header(Identity(signer, key), status, body, request, asked=asked)


def check(headers, answer=ANSWER):
    return check_answer(answer, headers, REQUEST, {KEY.public_key}, asked=ASKED)


def refusal(headers, answer=ANSWER):
    with pytest.raises(SignatureRejectedError) as refused:
        check(headers, answer)
    assert refused.value.problem is Problem.SIGNATURE_INVALID
    return refused.value.detail


def test_encoded_ports_match_the_move_struct():
    assert encode_ports(ANSWER.ports) == PORTS


@pytest.mark.parametrize("size", [16_379, 16_380, 40_000])
def test_long_text_is_split_into_chunks_of_16_381_bytes(size):
    text = b'"' + b"x" * size + b'"'
    chunks = [text[:16_381], text[16_381:32_762], text[32_762:]]
    pieces = [sized(chunk) for chunk in chunks if chunk]
    in_chunks = b"\x04" + uleb128(len(pieces)) + b"".join(pieces)
    expected = b"\x00" + sized(text) if len(text) <= 16_381 else in_chunks
    assert encode_ports({"t": "x" * size}) == b"\x01" + b"\x01t" + expected


def test_empty_ports_are_encoded_as_one_byte():
    assert encode_ports({}) == b"\x00"


def test_outcome_message_matches_the_move_module():
    assert outcome_message(INVOCATION, {"a": 1.5, "b": 2}, ANSWER) == MESSAGE


def test_outcome_signature_equals_that_of_cryptography():
    signature = check(header())
    assert signature.key == PRIVATE.public_key().public_bytes_raw()
    assert signature.signature == PRIVATE.sign(MESSAGE)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), st.text()))
def test_outcome_signature_is_valid_for_its_answer_only(ports):
    answer = Answer("ok", ports)
    headers = header(json.dumps({"ok": ports}).encode())
    assert check(headers, answer).key == KEY.public_key
    refusal(headers, Answer("ok", ports | {"another": 1}))
    refusal(headers, Answer("okay", ports))


def test_response_without_the_header_has_no_outcome_signature():
    assert "is missing" in refusal({})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"body": b'{"ok":{"result":4}}'}, "does not match this answer"),
        ({"body": b'{"err":{"result":3}}'}, "does not match this answer"),
        (
            {"request": REQUEST | {"nexus-invocation": "0x" + "c4" * 32}},
            "does not match this answer",
        ),
        ({"asked": b'{"a":1.5,"b":3}'}, "does not match this answer"),
        ({"key": OTHER}, "a key that the tool does not have"),
        ({"signer": "xyz.example.math.mul@1"}, "a key that the tool does not have"),
    ],
    ids=["ports", "variant", "invocation", "inputs", "key", "tool"],
)
def test_outcome_signature_of_another_outcome_is_rejected(changes, why):
    assert why in refusal(header(**changes))


@pytest.mark.parametrize(
    "field",
    [
        ":AAAA:",
        "nonsense",
        ':!:;keyid="x"',
        f':AAAA:;keyid="{TOOL}#ed25519:{KEY.public_key.hex()}"',
        f":AAAA:{';a' * 5_000}",
    ],
)
def test_malformed_field_is_rejected(field):
    refusal({"nexus-outcome-signature": field})


@pytest.mark.parametrize(
    "changes",
    [
        {"status": 422},
        {"body": b"no JSON"},
        {"asked": b"no JSON"},
        {"asked": b"[]"},
        {"body": b"{}"},
        {"body": b"[1]"},
        {"body": b'{"ok":3}'},
        {"body": b'{"ok":{"\xc3\xa4":1}}'},
        {"request": {"nexus-tool": TOOL}},
        {"request": REQUEST | {"nexus-invocation": "0x1"}},
        {"request": REQUEST | {"nexus-invocation": "not-on-chain"}},
    ],
    ids=[
        "a problem",
        "no JSON",
        "no inputs",
        "inputs in a list",
        "empty",
        "a list",
        "no ports",
        "a name that the chain has not",
        "none",
        "short",
        "another key",
    ],
)
def test_responses_without_an_answer_have_no_outcome_signature(changes):
    assert header(**changes) == {}
