"""Passkeys by signatures of Sui's own authenticator tests and of an iPhone (published in the tests
of MystenLabs/ts-sdks), and by WebAuthn assertions made with `cryptography`.
"""

import base64
import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    MemberSignature,
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    Passkey,
    SignatureScheme,
    UserSignature,
)
from nexus_tools.sui.types.digest import blake2b256
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

GENUINE = {
    "authenticator": (
        (
            "BiVYDmenOnqS+thmz5m5SrZnWaKXZLVxgh+rri6LHXs25B0AAAAAgwF7InR5cGUiOiJ3ZWJhdXRobi5nZXQi"
            "LCJjaGFsbGVuZ2UiOiJ4NkszMGNvSGlGMF9iczVVVjNzOEVfcGNPNkhMZ0xBb1A3ZE1uU0U5eERNIiwib3Jp"
            "Z2luIjoiaHR0cHM6Ly93d3cuc3VpLmlvIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfWICAJqKTgco/tSNg4BuVg/f"
            "3x+I8NLYN6QqvxHahKNe0PIhBe3EuhfZf8OL4hReW8acT1TVwmPMcnv4SWiAHaX2dAKBYTKkrLK2zLcfP/hD"
            "1aiAn/E0L3XLC4epejnzGRhTuA=="
        ),
        (
            "AAABACACAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgEBAQABAAAt3HtjT61oHCWWztGfhSC2ianN"
            "wi6LL2eOLPvZTdJWMgEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAIMqiyOLCIblS"
            "qii0TkS8PjMoj3tmA7S24hBMyonz2Op/Ldx7Y0+taBwlls7Rn4UgtompzcIuiy9njiz72U3SVjLoAwAAAAAA"
            "AICWmAAAAAAAAA=="
        ),
    ),
    "iphone": (
        (
            "BiVJlg3liA6MaHQ0Fw9kdmBbj+SuuaKGMseZXPO6gx2XYx0AAAAAhgF7InR5cGUiOiJ3ZWJhdXRobi5nZXQi"
            "LCJjaGFsbGVuZ2UiOiJZRG9vQ2RGRnRLLVJBZ3JzaUZqM1hpU1VPQ2pzWXJPWnRGcHVISGhvNDhZIiwib3Jp"
            "Z2luIjoiaHR0cDovL2xvY2FsaG9zdDo1MTczIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfWIChCx2fLGV+dwNRbTq"
            "fCvii70DMj1HiHij5oR9KjZmFMpGQJz3l0ZsNpi0zGQtw81Hj+X+CSshhkcteCzVOJlpKAN2ZM3l9Wxn5TYJ"
            "FdHc9VphEGzoyTTOfUjpZ7fQV2gt6A=="
        ),
        (
            "AAAAAFTTJ1JTZKCS6Q6aQS2bkY5gsmP//JTTwIzqsKqnltvLAS6VBPgonu3+e2qJUje77aMw0hTzv7mfKxBg"
            "lq17ccifBgIAAAAAAAAgb2Je8hW/vUH9otcR+oc1RdjZ2W2oaCNgMu0gTpAVfbNU0ydSU2SgkukOmkEtm5GO"
            "YLJj//yU08CM6rCqp5bby+gDAAAAAAAAgIQeAAAAAAAA"
        ),
    ),
}
# In the tests of MystenLabs/sui: an assertion that answers a challenge of an older form.
OLD_CHALLENGE = (
    "BiVJlg3liA6MaHQ0Fw9kdmBbj+SuuaKGMseZXPO6gx2XYx0AAAAAigF7InR5cGUiOiJ3ZWJhdXRobi5nZXQiLCJjaGFs"
    "bGVuZ2UiOiJBQUFBdF9taklCMXZiVnBZTTZXVjZZX29peDZKOGFOXzlzYjhTS0ZidWtCZmlRdyIsIm9yaWdpbiI6Imh0"
    "dHA6Ly9sb2NhbGhvc3Q6NTE3MyIsImNyb3NzT3JpZ2luIjpmYWxzZX1iApjskL9Xyfopyg9Av7MSrcchSpfWqAYoJ+qf"
    "SId4gNmoQ1YNgj2alDpRIbq9kthmyGY25+k24FrW114PEoy5C+8DPRcOCTtACi3ZywtZ4UILhwV+Suh79rWtbKqDqhBQ"
    "wxM="
)
R1_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
MESSAGE = TRANSACTION_INTENT + b"a transaction"
DIGEST = blake2b256(MESSAGE)
DATA = bytes.fromhex("49960de5880e8c687434170f6476605b8fe4aeb9a28632c7995cf3ba831d97631d00000000")


def sized(data):
    """Return bytes in BCS, after their length in seven-bit groups."""
    low, high = len(data) % 128, len(data) // 128
    return bytes([low | 128, high] if high else [low]) + data


def encoded(challenge):
    return base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()


def client_data(**changes):
    members = {
        "type": "webauthn.get",
        "challenge": encoded(DIGEST),
        "origin": "http://localhost:5173",
        "crossOrigin": False,
    } | changes
    return json.dumps({name: value for name, value in members.items() if value is not ...})


def assertion(text=None, *, data=DATA, flag=2, low=True, key=None, serialized_key=None):
    """Return a serialized signature by a new passkey that follows WebAuthn's rules."""
    text = (client_data() if text is None else text).encode()
    key = key or ec.derive_private_key(0x7654321, ec.SECP256R1())
    signed = key.sign(data + hashlib.sha256(text).digest(), ec.ECDSA(SHA256()))
    r, s = utils.decode_dss_signature(signed)
    s = min(s, R1_ORDER - s) if low else max(s, R1_ORDER - s)
    public = key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    whole = bytes([flag]) + r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return b"\6" + sized(data) + sized(text) + sized(whole + (serialized_key or public))


def refused(serialized, code, reason, message=MESSAGE):
    with pytest.raises(NotAllowedError) as caught:
        UserSignature.parse(serialized).verify(message)
    assert (caught.value.code, caught.value.message) == (code, reason)


@pytest.mark.parametrize("name", GENUINE)
def test_genuine_signature_verifies_its_transaction_and_sender(name):
    serialized, data = map(base64.b64decode, GENUINE[name])
    signature = UserSignature.parse(serialized)
    signature.verify(TRANSACTION_INTENT + data)
    assert signature.address() == TRANSACTION_DATA.decode(data).sender


def test_genuine_signature_does_not_verify_another_transaction():
    serialized, _ = map(base64.b64decode, GENUINE["iphone"])
    _, other = map(base64.b64decode, GENUINE["authenticator"])
    reason = "Signature is not valid: Invalid challenge"
    refused(serialized, "signature_invalid", reason, TRANSACTION_INTENT + other)


def test_challenge_that_is_not_a_digest_is_rejected():
    serialized = base64.b64decode(OLD_CHALLENGE)
    refused(serialized, "signature_malformed", "Invalid encoded challenge")


def test_assertion_by_the_webauthn_rules_verifies():
    UserSignature.parse(assertion()).verify(MESSAGE)
    UserSignature.parse(assertion(client_data(more="members", crossOrigin=...))).verify(MESSAGE)


def test_larger_s_is_rejected():
    refused(assertion(low=False), "signature_invalid", "Signature is not valid: Fails to verify")


def test_unsigned_authenticator_data_is_rejected():
    changed = assertion().replace(DATA, DATA[:-1] + b"\1")
    refused(changed, "signature_invalid", "Signature is not valid: Fails to verify")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (client_data(type="webauthn.create"), "Invalid client data type"),
        (client_data(type="something"), "Invalid client data json"),
        (client_data(type=...), "Invalid client data json"),
        (client_data(origin=...), "Invalid client data json"),
        (client_data(crossOrigin="no"), "Invalid client data json"),
        (client_data(more=float("nan")), "Invalid client data json"),
        (client_data()[:-1] + ', "type": "webauthn.get"}', "Invalid client data json"),
        ("[]", "Invalid client data json"),
        ("[" * 16_000, "Invalid client data json"),
        ("", "Invalid client data json"),
        (client_data(challenge="wrong_base64_encoding"), "Invalid encoded challenge"),
        (client_data(challenge=encoded(DIGEST) + "="), "Invalid encoded challenge"),
        (client_data(challenge=encoded(bytes(31))), "Invalid encoded challenge"),
        (client_data(challenge=encoded(bytes(33))), "Invalid encoded challenge"),
        (client_data(challenge=encoded(bytes(32))[:-1] + "B"), "Invalid encoded challenge"),
    ],
    ids=range(15),
)
def test_client_data_of_other_kinds_is_rejected(text, reason):
    refused(assertion(text), "signature_malformed", reason)


def test_signature_of_another_curve_or_invalid_key_is_rejected():
    refused(assertion(flag=1), "signature_malformed", "Invalid signature scheme")
    no_point = assertion(serialized_key=b"\2" + b"\xff" * 32)
    refused(no_point, "signature_malformed", "Invalid r1 pk")


def test_zero_scalars_are_rejected():
    serialized = assertion()
    r = Passkey.parse(serialized).signature[:32]
    refused(serialized.replace(r, bytes(32)), "signature_malformed", "Invalid r1 sig")


def test_passkey_can_be_a_multisig_member(keys):
    serialized = assertion()
    passkey = Passkey.parse(serialized)
    member = MultiSigMember(SignatureScheme.PASSKEY, passkey.public_key)
    committee = MultiSigPublicKey.of((keys[0].member(), member), 2)
    together = MultiSig.combine(committee, [serialized, keys[0].sign(MESSAGE)])
    UserSignature.parse(together.encode()).verify(MESSAGE)


def test_passkey_does_not_sign_for_another_member():
    stranger = assertion(key=ec.derive_private_key(0x1234, ec.SECP256R1()))
    member = MultiSigMember(SignatureScheme.PASSKEY, Passkey.parse(assertion()).public_key)
    committee = MultiSigPublicKey.of((member,), 1)
    forged = MultiSig((MemberSignature(SignatureScheme.PASSKEY, stranger),), 1, committee)
    with pytest.raises(NotAllowedError, match="Signature is not valid: Invalid author"):
        UserSignature.parse(forged.encode()).verify(MESSAGE)
