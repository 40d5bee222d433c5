import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import ValidationError
from nexus_tools.sui.bcs import BcsError, u64
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import (
    DIGEST,
    Digest,
    base58_decode,
    base58_encode,
    blake2b256,
    created_object_id,
    dynamic_field_id,
)
from nexus_tools.sui.types.type_tag import TYPE_TAG, Primitive


# draft-msporny-base58-03, section "Test Vectors".
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Hello World!", "2NEpo7TZRRrLZSi2U"),
        (
            b"The quick brown fox jumps over the lazy dog.",
            "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
        ),
        (bytes.fromhex("0000287fb4cd"), "11233QC4"),
    ],
)
def test_base58_has_the_published_form(data, text):
    assert base58_encode(data) == text
    assert base58_decode(text) == data


@given(st.binary(min_size=32, max_size=32))
def test_digest_is_parsed_from_its_text(data):
    assert Digest.parse(str(Digest(data))) == data


@pytest.mark.parametrize("text", ["", "0", "l" * 44, "2NEpo7TZRRrLZSi2U", "1" * 33, "z" * 100])
def test_parse_refuses_invalid_digests(text):
    with pytest.raises(ValidationError) as caught:
        Digest.parse(text)
    assert caught.value.code == "digest_invalid"


def test_digest_of_zeros_is_32_ones():
    assert str(Digest(bytes(32))) == "1" * 32


def test_digest_is_encoded_with_its_length():
    assert DIGEST.encode(Digest(bytes(32))) == b"\x20" + bytes(32)


@pytest.mark.parametrize("encoded", [b"", b"\x1f" + bytes(31), b"\x20" + bytes(31), b"\x20"])
def test_bytes_of_another_length_are_not_a_digest(encoded):
    with pytest.raises(BcsError):
        DIGEST.decode(encoded)


def test_blake2b256_equals_the_reference_implementation():
    # `b2sum -l 256` of "abc".
    expected = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"
    assert blake2b256(b"a", b"bc").hex() == expected


def test_dynamic_field_id_equals_that_of_the_typescript_sdk():
    parent = Address.parse("0xbef336120c90707eb387d72dde9c0e9f6fea37b9f02b1ba8de271c64ad7b6db0")
    field = dynamic_field_id(parent, TYPE_TAG.encode(Primitive.U64), u64.encode(0))
    assert str(field) == "0x6552700b707460a3f48d8348f7531c4bba7a9546b4cf445ba265ad2ba06b1bb3"


def test_created_object_id_hashes_a_prefix_the_digest_and_a_number():
    # `ObjectID::derive_id` in `sui-types/src/base_types.rs`: `HashingIntentScope` 0xf1, then BCS.
    expected = hashlib.blake2b(
        b"\xf1" + bytes(range(32)) + b"\x02\x01" + bytes(6), digest_size=32
    ).digest()
    assert created_object_id(bytes(range(32)), 0x0102) == expected


def test_created_object_ids_differ_by_number_and_by_transaction():
    ids = {created_object_id(bytes([t]) * 32, number) for t in (1, 2) for number in (0, 1, 256)}
    assert len(ids) == 6
