import base64
from contextlib import suppress

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    SignatureScheme,
    UserSignature,
    key_address,
)
from nexus_tools.sui.types.digest import blake2b256

MESSAGE = TRANSACTION_INTENT + b"a transaction"
K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
R1_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


# Made by the `sui` command line; published in the tests of MystenLabs/ts-sdks.
@pytest.mark.parametrize(
    ("scheme", "public_key", "address"),
    [
        (
            SignatureScheme.ED25519,
            "UdGRWooy48vGTs0HBokIis5NK+DUjiWc9ENUlcfCCBE=",
            "0xd77a6cd55073e98d4029b1b0b8bd8d88f45f343dad2732fc9a7965094e635c55",
        ),
        (
            SignatureScheme.ED25519,
            "0PTAfQmNiabgbak9U/stWZzKc5nsRqokda2qnV2DTfg=",
            "0x7e8fd489c3d3cd9cc7cbcc577dc5d6de831e654edd9997d95c412d013e6eea23",
        ),
        (
            SignatureScheme.SECP256K1,
            "AwTC3jVFRxXc3RJIFgoQcv486QdqwYa8vBp4bgSq0gsI",
            "0xcdce00b4326fb908fdac83c35bcfbda323bfcc0618b47c66ccafbdced850efaa",
        ),
        (
            SignatureScheme.SECP256K1,
            "A1F2CtldIGolO92Pm9yuxWXs5E07aX+6ZEHAnSuKOhii",
            "0xb588e58ed8967b6a6f9dbce76386283d374cf7389fb164189551257e32b023b2",
        ),
        (
            SignatureScheme.SECP256R1,
            "AsuMoT9rR7PrcdTVbgAhbLtsFZ38uaJtvW7hXKH7Ll6P",
            None,
        ),
    ],
)
def test_key_has_the_address_of_the_sui_cli(scheme, public_key, address):
    found = key_address(scheme, base64.b64decode(public_key))
    assert address is None or str(found) == address


# The example of `sui_executeTransactionBlock` in Sui's RPC documentation.
DOCUMENTED_TRANSACTION = base64.b64decode(
    "AAACACBqEB6aOvXIBwES+Ahkizbvv43uihqC3kbZUE6WoRCKFwEAjvdvVsOZYzousxC8qRJOXy84znOeqsu2YAaIgE4H"
    "hEgCAAAAAAAAACB9w3+ufZMpihJFwxtCBojBaGy00TVtFxgN2C6TpIPFqwEBAQEBAAEAAAS0l6kWtGVmCaf6gnoJGE1v"
    "R2gdO6dM4NejbGSysfiHAZ+Q9/hmzCnfsdpjc86U+dldylpA9OF2mRjuv5+64AvTAgAAAAAAAAAgjleHL0UiRGjh/BfI"
    "FHCJ3EMY/dQA22c2TvNQyVJnbYUEtJepFrRlZgmn+oJ6CRhNb0doHTunTODXo2xksrH4hwoAAAAAAAAAAC0xAQAAAAAA"
)
DOCUMENTED_SIGNATURE = base64.b64decode(
    "AEZc4UMAoxzWtp+i1dvyOgmy+Eeb/5ZNwO5dpHBqX5Rt36+HhYnBby8asFU4b0i7TjQZGgLahT8w3NQUfk0NUQnqvbuA"
    "0Q1Bqu4RHV3JPpqmH+C527hWJGUBOZN1j9sg8w=="
)


def test_documented_signature_verifies_the_documented_transaction():
    signature = UserSignature.parse(DOCUMENTED_SIGNATURE)
    signature.verify(TRANSACTION_INTENT + DOCUMENTED_TRANSACTION)
    sender = "0x04b497a916b4656609a7fa827a09184d6f47681d3ba74ce0d7a36c64b2b1f887"
    assert str(signature.address()) == sender


@pytest.mark.parametrize("place", [0, 40, 250])
def test_signature_does_not_verify_another_transaction(place):
    changed = bytearray(DOCUMENTED_TRANSACTION)
    changed[place] ^= 1
    refused(DOCUMENTED_SIGNATURE, TRANSACTION_INTENT + changed)


def test_signature_does_not_verify_another_intent():
    refused(DOCUMENTED_SIGNATURE, b"\3\0\0" + DOCUMENTED_TRANSACTION)


def refused(serialized, message=MESSAGE):
    signature = UserSignature.parse(bytes(serialized))
    with pytest.raises(NotAllowedError) as caught:
        signature.verify(message)
    assert caught.value.code == "signature_invalid"


def ed25519_signature(message=MESSAGE):
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return b"\0" + key.sign(blake2b256(message)) + public


def ecdsa_signature(flag, curve, order, message=MESSAGE, *, low=True):
    key = ec.derive_private_key(0x1234567, curve)
    r, s = utils.decode_dss_signature(key.sign(blake2b256(message), ec.ECDSA(SHA256())))
    s = min(s, order - s) if low else max(s, order - s)
    public = key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    return bytes([flag]) + r.to_bytes(32, "big") + s.to_bytes(32, "big") + public


def signatures():
    return [
        ed25519_signature(),
        ecdsa_signature(1, ec.SECP256K1(), K1_ORDER),
        ecdsa_signature(2, ec.SECP256R1(), R1_ORDER),
    ]


def test_ed25519_follows_rfc_8032():
    # RFC 8032, section 7.1, TEST 3 signs two bytes with this key.
    seed = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"
    public = "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed))
    assert key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex() == public
    serialized = b"\0" + key.sign(blake2b256(MESSAGE)) + bytes.fromhex(public)
    UserSignature.parse(serialized).verify(MESSAGE)


@pytest.mark.parametrize("number", range(3))
def test_schemes_accept_their_own_signatures_and_no_changed_ones(number):
    serialized = signatures()[number]
    UserSignature.parse(serialized).verify(MESSAGE)
    for place in (1, 33, 64):
        changed = bytearray(serialized)
        changed[place] ^= 0x10
        refused(changed)
    refused(serialized, MESSAGE + b"!")


@pytest.mark.parametrize(
    ("flag", "curve", "order"),
    [(1, ec.SECP256K1(), K1_ORDER), (2, ec.SECP256R1(), R1_ORDER)],
)
def test_second_ecdsa_signature_is_rejected(flag, curve, order):
    refused(ecdsa_signature(flag, curve, order, low=False))


def test_public_key_that_is_not_a_point_is_rejected():
    serialized = bytearray(signatures()[1])
    serialized[65] = 0x07
    refused(serialized)


@pytest.mark.parametrize(
    "serialized",
    [b"", b"\0", b"\x07" + bytes(96), b"\xff" + bytes(96), bytes(96), bytes(98), b"\1" + bytes(96)]
    + [bytes([flag]) + bytes(97) for flag in (3, 4, 5, 6)],
    ids=bytes.hex,
)
def test_other_bytes_are_rejected_as_user_signature(serialized):
    with pytest.raises(NotAllowedError) as caught:
        UserSignature.parse(serialized)
    assert caught.value.code == "signature_malformed"


@given(st.sampled_from([0, 1, 2]), st.binary(min_size=64, max_size=64))
def test_noise_is_never_a_valid_signature_of_a_key(scheme, noise):
    serialized = signatures()[scheme]
    refused(serialized[:1] + noise + serialized[65:])


@given(st.integers(0, 7), st.binary(max_size=300))
def test_noise_is_parsed_or_rejected(flag, noise):
    with suppress(NotAllowedError):
        UserSignature.parse(bytes([flag]) + noise).verify(MESSAGE)


def test_key_that_is_not_a_point_is_named_in_the_error():
    serialized = bytearray(signatures()[1])
    serialized[65] = 0x07
    with pytest.raises(NotAllowedError, match="Cannot parse pubkey"):
        UserSignature.parse(bytes(serialized)).verify(MESSAGE)
