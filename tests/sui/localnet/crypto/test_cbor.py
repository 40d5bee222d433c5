"""CBOR, by the examples of RFC 8949, appendix A."""

import math

import pytest

from nexus_tools.sui.localnet.crypto.cbor import (
    MalformedCbor,
    Map,
    Tagged,
    decode_cbor,
    encode_bytes,
    encode_text,
)

EXAMPLES = [
    ("00", 0),
    ("17", 23),
    ("1818", 24),
    ("1903e8", 1_000),
    ("1a000f4240", 1_000_000),
    ("1bffffffffffffffff", 2**64 - 1),
    ("c249010000000000000000", 2**64),
    ("3bffffffffffffffff", -(2**64)),
    ("c349010000000000000000", -(2**64) - 1),
    ("20", -1),
    ("3903e7", -1_000),
    ("f93c00", 1.0),
    ("f90001", 5.960464477539063e-8),
    ("fa47c35000", 100_000.0),
    ("fb3ff199999999999a", 1.1),
    ("f97c00", math.inf),
    ("f4", False),
    ("f5", True),
    ("f6", None),
    ("f7", None),
    ("c11a514b67b0", Tagged(1, 1_363_896_240)),
    ("d818456449455446", Tagged(24, b"dIETF")),
    ("40", b""),
    ("4401020304", bytes([1, 2, 3, 4])),
    ("60", ""),
    ("6449455446", "IETF"),
    ("62c3bc", "ü"),
    ("64f0908591", "𐅑"),
    ("80", []),
    ("8301820203820405", [1, [2, 3], [4, 5]]),
    ("a0", Map(())),
    ("a26161016162820203", Map((("a", 1), ("b", [2, 3])))),
    ("5f42010243030405ff", bytes([1, 2, 3, 4, 5])),
    ("7f657374726561646d696e67ff", "streaming"),
    ("9fff", []),
    ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]),
    ("bf61610161629f0203ffff", Map((("a", 1), ("b", [2, 3])))),
]


@pytest.mark.parametrize(("data", "value"), EXAMPLES)
def test_values(data, value):
    found = decode_cbor(bytes.fromhex(data))
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "data",
    [
        # From appendix F: values that end too early, are reserved, or have no start.
        *("", "18", "1900", "61", "818181", "a1", "a100", "5f4100", "9f01", "bf0102", "c0"),
        *("1c", "3f", "5c", "df", "fc", "5f00ff", "5f5f4100ffff", "7f4100ff", "ff", "f818", "e0"),
        # Limits of this reader: invalid UTF-8, a number of more than 128 bits, too many levels.
        *("61ff", "c2510100000000000000000000000000000000", "81" * 300 + "00"),
    ],
)
def test_invalid_cbor_is_rejected(data):
    with pytest.raises(MalformedCbor):
        decode_cbor(bytes.fromhex(data))


@pytest.mark.parametrize("head", ["81", "9f", "a100", "c1"])
def test_values_nested_256_deep_are_read_at_any_call_depth(head):
    data = bytes.fromhex(head * 256 + "00" + "ff" * 256)

    def call(others):
        return decode_cbor(data) if others == 0 else call(others - 1)

    # Python allows 1000 frames; the machine uses up to 400 of them, and its callers use some.
    assert call(400) is not None


def test_bytes_after_a_value_are_ignored():
    assert decode_cbor(bytes.fromhex("01ff")) == 1


def test_map_keeps_duplicate_keys():
    assert decode_cbor(bytes.fromhex("a201010102")) == Map(((1, 1), (1, 2)))


def test_strings_are_encoded_with_shortest_length():
    assert encode_text("IETF").hex() == "6449455446"
    assert encode_bytes(bytes([1, 2, 3, 4])).hex() == "4401020304"
    assert encode_bytes(bytes(24))[:2].hex() == "5818"
    assert encode_bytes(bytes(256))[:3].hex() == "590100"
