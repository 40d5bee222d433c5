"""The requirements for an enclave's document, by the limits of `nitro_attestation.rs`."""

import pytest

from nexus_tools.sui.localnet.crypto.nitro_document import Attestation, MalformedAttestation


def head(kind, number):
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 24:
            return bytes([kind << 5 | number])
        if number < 1 << 8 * size:
            return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError


def cbor(value):
    """Return the CBOR of a value; a map may be a tuple of pairs."""
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    pairs = value.items() if isinstance(value, dict) else value
    return head(5, len(pairs)) + b"".join(cbor(key) + cbor(item) for key, item in pairs)


DOCUMENT = {
    "module_id": "i-1",
    "digest": "SHA384",
    "timestamp": 5,
    "pcrs": {0: bytes(32)},
    "certificate": b"c",
    "cabundle": [b"a"],
}


def parse(document=DOCUMENT, *, header=None, unprotected=(), signature=bytes(96), **fields):
    protected = cbor(header or {1: -35})
    payload = cbor({**document, **fields} if fields else document)
    return Attestation.parse(cbor([protected, unprotected, payload, signature]))


def registers(*pairs):
    return parse(pcrs=pairs).document.registers


def test_document_with_required_fields_is_accepted():
    document = parse().document
    assert (document.module_id, document.timestamp, document.chain) == ("i-1", 5, (b"a",))
    assert (document.public_key, document.user_data, document.nonce) == (None, None, None)


def test_document_with_largest_fields_is_accepted():
    document = parse(
        timestamp=2**64 - 1,
        certificate=bytes(1_024),
        cabundle=[bytes(1_024)] * 10,
        public_key=bytes(1_024),
        user_data=bytes(512),
        nonce=b"",
    ).document
    assert (len(document.public_key), len(document.user_data), document.nonce) == (1_024, 512, b"")


@pytest.mark.parametrize("name", DOCUMENT)
def test_document_without_a_required_field_is_rejected(name):
    with pytest.raises(MalformedAttestation):
        parse({key: value for key, value in DOCUMENT.items() if key != name})


@pytest.mark.parametrize(
    "fields",
    [
        {"module_id": ""},
        {"module_id": b"i-1"},
        {"digest": "SHA256"},
        {"timestamp": -1},
        {"timestamp": b"5"},
        {"certificate": b""},
        {"certificate": bytes(1_025)},
        {"cabundle": []},
        {"cabundle": [b"a"] * 11},
        {"cabundle": [b""]},
        {"cabundle": [bytes(1_025)]},
        {"cabundle": ["a"]},
        {"public_key": bytes(1_025)},
        {"user_data": bytes(513)},
        {"nonce": bytes(513)},
        {"pcrs": []},
        {"pcrs": {0: bytes(31)}},
        {"pcrs": {0: "0"}},
        {"pcrs": {"0": bytes(32)}},
        {"pcrs": {-1: bytes(32)}},
        {"pcrs": {256: bytes(32)}},
        {"pcrs": {index: bytes(32) for index in range(33)}},
        {"pcrs": ((0, bytes(32)), (0, bytes(32)))},
    ],
)
def test_invalid_documents_are_rejected(fields):
    with pytest.raises(MalformedAttestation):
        parse(**fields)


def test_document_keys_must_be_distinct_texts():
    pairs = tuple(DOCUMENT.items())
    for further in ((1, 1), ("digest", "SHA384")):
        with pytest.raises(MalformedAttestation):
            parse((*pairs, further))


def test_registers_are_included_when_described_or_not_zero():
    zero, other = bytes(48), b"\1" * 48
    assert registers((8, zero), (5, zero), (6, other), (31, other), (32, other), (4, other)) == {
        4: other,
        6: other,
        8: zero,
        31: other,
    }
    assert list(registers((8, zero), (0, zero))) == [0, 8]


@pytest.mark.parametrize(
    "form",
    [
        {"header": {1: -7}},
        {"header": {1: -35, 2: 0}},
        {"header": [1, -35]},
        {"unprotected": b""},
        {"unprotected": ((4, b""), (4, b""))},
        {"signature": bytes(95)},
    ],
)
def test_signatures_of_other_form_are_rejected(form):
    with pytest.raises(MalformedAttestation):
        parse(**form)


def test_payload_has_at_most_16383_bytes():
    filler = 16_383 - len(cbor({**DOCUMENT, "x": bytes(15_000)})) + 15_000
    assert parse(x=bytes(filler)).document.module_id == "i-1"
    with pytest.raises(MalformedAttestation):
        parse(x=bytes(filler + 1))
