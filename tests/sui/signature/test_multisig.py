"""Multisigs by the vectors of MystenLabs' sui (`multisig_tests.rs`), ts-sdks and sui-rust-sdk.

Error messages follow `sui-types/src/multisig.rs`.
"""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.errors import NotAllowedError, ValidationError
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    MemberSignature,
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    SignatureScheme,
    UserSignature,
)

MESSAGE = TRANSACTION_INTENT + b"a transaction"
ED25519, K1, R1, _, _, ZK_LOGIN, PASSKEY = SignatureScheme

# Weights 1, 2, 3, threshold 3; the first two members signed.
BY_RUST = (
    "AwIAvlJnUP0iJFZL+QTxkKC9FHZGwCa5I4TITHS/QDQ12q1sYW6SMt2Yp3PSNzsAay0Fp2MPVohqyyA02UtdQ2RNAQGH"
    "0eLk4ifl9h1I8Uc+4QlRYfJC21dUbP8aFaaRqiM/f32TKKg/4PSsGf9lFTGwKsHJYIMkDoqKwI8Xqr+3apQzAwADAFri"
    "ILSy9l6XfBLt5hV5/1FwtsIsAGFow3tefGGvAYCDAQECHRUjB8a3Kw7QQYsOcM2A5/UpW42G9XItP1IT+9I5TzYCADtq"
    "J7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdopAwMA"
)
BY_TYPESCRIPT = (
    "AwIANe9gJJmT5m1UvpV8Hj7nOyif76rS5Zgg1bi7VApts+KwtSc2Bg8WJ6LBfGnZKugrOqtQsk5d2Q+IMRLD4hYmBQFY"
    "lrlXc01/ZSdgwSD3eGEdm6kxwtOwAvTWdb2wNZP2Hnkgrh+indYN4s2Qd99iYCz+xsY6aT5lpOBsDZb2x9LyAwADAFri"
    "ILSy9l6XfBLt5hV5/1FwtsIsAGFow3tefGGvAYCDAQECHRUjB8a3Kw7QQYsOcM2A5/UpW42G9XItP1IT+9I5TzYCAgIn"
    "Mis6iRoKKA1rwfssuyPSj1SQb9ZAf190H23vV2JgmgMDAA=="
)
GENUINE = [
    (
        BY_RUST,
        b"\0\0\0\x05Hello",
        "0x37b048598ca569756146f4e8ea41666c657406db154a31f11bb5c1cbaf0b98d7",
    ),
    (
        BY_TYPESCRIPT,
        b"\3\0\0\x09\0\0\0\x05Hello",
        "0x8ee027fe556a3f6c0a23df64f090d2429fec0bb21f55594783476e81de2dec27",
    ),
]
# Five members of all schemes; the passkey signed.
WITH_PASSKEY = (
    "AwEEjwIGJVgOZ6c6epL62GbPmblKtmdZopdktXGCH6uuLosdezbkHQAAAACDAXsidHlwZSI6IndlYmF1dGhuLmdldCIs"
    "ImNoYWxsZW5nZSI6InhLaEhoVFNaOE1SUzYwLS02TW4wa3gtb0ltUVlLNUYzRTJrc0JvYkZJNzgiLCJvcmlnaW4iOiJo"
    "dHRwczovL3d3dy5zdWkuaW8iLCJjcm9zc09yaWdpbiI6ZmFsc2V9YgI+nDmTYA+27lSJ8v5kFb9ILfO4BKaP1eshbrBR"
    "3NBA9FwXQVyETvHA3KCgzj3iqTTsMjJ+CbwsIf2wPWdu7wXCA+BVWNrj4Nb016Ck6u+K1UtLmlM2n6p+XplyRH6c6faL"
    "EAAFAA19qzWMja2qTvoASadbB0NlVbEKNoIZu2gPcFcTSdd1AQECDhfNWTnkaxlmQZaM11mRC6JXfif6c/3jh225vsW8"
    "6ysBAgNH+68j8DirxMMIonEReipM/67dvF/4HHUXvGx0p+20MAEDPBtodHRwczovL2lkLnR3aXRjaC50di9vYXV0aDIF"
    "bgL0iaLwntIYaep+3AX3A3dtHe0YYZDg2DKi6qjCAwEEA+BVWNrj4Nb016Ck6u+K1UtLmlM2n6p+XplyRH6c6faLAQEA"
)
SEED = 20794788559620669596206457022966176986688727876128223628113916380927502737911
SHORT_SEED = 380704556853533152350240698167704405529973457670972223618755249929828551006


def zk_login_member(seed):
    issuer = b"https://id.twitch.tv/oauth2"
    return MultiSigMember(ZK_LOGIN, bytes([len(issuer)]) + issuer + seed.to_bytes(32, "big"))


def committee(members, threshold):
    return MultiSigPublicKey(tuple(members), threshold)


def multisig(signers, public_key, bitmap, message=MESSAGE):
    parts = tuple(MemberSignature(key.scheme, key.part(message)) for key in signers)
    return MultiSig(parts, bitmap, public_key)


def refusal(signature, message=MESSAGE):
    with pytest.raises(NotAllowedError) as caught:
        UserSignature.parse(signature.encode()).verify(message)
    assert caught.value.code == "signature_invalid"
    return caught.value.message.removeprefix("Signature is not valid: ")


@pytest.mark.parametrize(("text", "message", "address"), GENUINE, ids=["rust", "typescript"])
def test_genuine_multisig_verifies_with_its_address_and_bytes(text, message, address):
    data = base64.b64decode(text)
    signature = UserSignature.parse(data)
    signature.verify(message)
    assert str(signature.address()) == address
    assert signature.authenticator.encode() == data


@pytest.mark.parametrize(("text", "message", "address"), GENUINE, ids=["rust", "typescript"])
def test_genuine_multisig_does_not_verify_another_message(text, message, address):
    signature = MultiSig.parse(base64.b64decode(text))
    assert refusal(signature, message + b"!").startswith(
        "Invalid sig for pk=AFriILSy9l6XfBLt5hV5/1FwtsIsAGFow3tefGGvAYCD address=0x"
    )


def test_genuine_multisig_with_members_of_all_schemes_is_parsed():
    data = base64.b64decode(WITH_PASSKEY)
    signature = MultiSig.parse(data)
    address = "0x10f58251fa90d7fd5510f99787ac5c5874fe29c033524ba0275f1ed793ed8598"
    assert str(signature.address()) == address
    assert [member.scheme for member in signature.public_key.members] == [
        ED25519, K1, R1, ZK_LOGIN, PASSKEY,
    ]  # fmt: skip
    assert signature.encode() == data
    assert 'error="General cryptographic error: Signature is not valid: Invalid challenge"' in (
        refusal(signature)
    )


def test_zklogin_members_contribute_to_the_address():
    public_key = committee([zk_login_member(SEED), zk_login_member(SHORT_SEED)], 1)
    address = "0x77a9fbf3c695d78dd83449a81a9e70aa79a77dbfd6fb72037bf09201c12052cd"
    assert str(public_key.address()) == address


def test_other_members_sign_for_a_multisig_with_a_zklogin_member(keys):
    public_key = committee([zk_login_member(SEED), keys[0].member()], 1)
    signed = MultiSig.combine(public_key, [keys[0].sign(MESSAGE)])
    UserSignature.parse(signed.encode()).verify(MESSAGE)


def test_zklogin_part_is_rejected_with_a_clear_message(keys):
    public_key = committee([zk_login_member(SEED), keys[0].member()], 1)
    part = MemberSignature(ZK_LOGIN, b"\5 whatever it is")
    assert refusal(MultiSig((part,), 0b01, public_key)).startswith("zkLogin is not supported")


# --- Signers


@pytest.mark.parametrize(
    ("signers", "valid"), [([0], 0), ([1], 0), ([2], 1), ([0, 1], 1), ([0, 1, 2], 1), ([1, 2], 1)]
)
def test_weights_of_signers_must_reach_the_threshold(keys, signers, valid):
    public_key = committee([key.member(1 + index) for index, key in enumerate(keys)], 3)
    signed = multisig(
        [keys[index] for index in signers], public_key, sum(1 << index for index in signers)
    )
    if valid:
        UserSignature.parse(signed.encode()).verify(MESSAGE)
    else:
        assert refusal(signed) == f"Insufficient weight={1 + signers[0]} threshold=3"


def test_signatures_are_in_the_order_of_the_members(keys):
    public_key = committee([key.member() for key in keys], 2)
    assert refusal(multisig([keys[1], keys[0]], public_key, 0b011)) == "Invalid k1 pk bytes"
    assert refusal(multisig([keys[0], keys[1]], public_key, 0b110)) == "Invalid ed25519 pk bytes"


def test_bits_beyond_the_members_or_beyond_ten_are_rejected(keys):
    public_key = committee([key.member() for key in keys], 1)
    assert refusal(multisig([keys[0]], public_key, 0b1000)) == "Invalid public keys index"
    assert refusal(multisig([keys[0]], public_key, 1 << 10)) == "Invalid bitmap"
    assert refusal(multisig([keys[0]], public_key, 0)) == "Insufficient weight=0 threshold=1"


def test_member_cannot_sign_twice(keys):
    public_key = committee([key.member() for key in keys], 2)
    assert refusal(multisig([keys[0], keys[0]], public_key, 0b001)) == (
        "Insufficient weight=1 threshold=2"
    )


def test_number_of_signatures_is_between_one_and_the_members(keys):
    public_key = committee([keys[0].member()], 1)
    for signers in ([], [keys[0], keys[0]]):
        assert refusal(multisig(signers, public_key, 1)) == "Invalid number of signatures"


def test_changed_signature_is_rejected_with_its_key(keys):
    public_key = committee([key.member() for key in keys], 1)
    signed = multisig([keys[2]], public_key, 0b100, MESSAGE + b"!")
    key = base64.b64encode(b"\2" + keys[2].public).decode()
    address = keys[2].member().address()
    assert refusal(signed) == (
        f"Invalid sig for pk={key} address={address}"
        ' error="Invalid signature was given to the function"'
    )


# --- Committees


@pytest.mark.parametrize(("weights", "threshold"), [([1, 0], 1), ([1, 1], 0), ([1, 1], 3), ([], 1)])
def test_invalid_weights_and_thresholds_are_rejected(make_key, weights, threshold):
    members = [make_key(0, index).member(weight) for index, weight in enumerate(weights)]
    public_key = committee(members, threshold)
    assert refusal(multisig([make_key(0, 0)], public_key, 1)) == "Invalid multisig pubkey"
    with pytest.raises(ValidationError):
        MultiSigPublicKey.of(public_key.members, threshold)


def test_multisig_has_at_most_ten_members_and_unique_keys(make_key):
    members = tuple(make_key(0, index).member(255) for index in range(11))
    assert MultiSigPublicKey.of(members[:10], 2550).threshold == 2550
    for wrong, threshold in ((members, 1), (members[:10], 2551), (members[:1] * 2, 1)):
        with pytest.raises(ValidationError) as caught:
            MultiSigPublicKey.of(wrong, threshold)
        assert caught.value.code == "multisig_invalid"


# --- Combination


def test_combine_accepts_signatures_in_any_order(keys):
    public_key = MultiSigPublicKey.of(tuple(key.member() for key in keys), 2)
    signed = MultiSig.combine(public_key, [keys[2].sign(MESSAGE), keys[0].sign(MESSAGE)])
    assert signed.bitmap == 0b101
    UserSignature.parse(signed.encode()).verify(MESSAGE)


def test_combine_refuses_missing_duplicate_and_foreign_signatures(keys, make_key):
    public_key = MultiSigPublicKey.of(tuple(key.member() for key in keys), 2)
    own, foreign = keys[0].sign(MESSAGE), make_key(0, 99).sign(MESSAGE)
    for signatures, code in (
        ([own], "multisig_not_enough"),
        ([own, own], "multisig_invalid"),
        ([own, foreign], "multisig_invalid"),
    ):
        with pytest.raises(ValidationError) as caught:
            MultiSig.combine(public_key, signatures)
        assert caught.value.code == code


@pytest.mark.parametrize("place", [1, 2, 40, 66, 130, 200])
def test_truncated_multisig_is_malformed(place):
    with pytest.raises(NotAllowedError) as caught:
        UserSignature.parse(base64.b64decode(BY_RUST)[:place])
    assert caught.value.code == "signature_malformed"


@given(st.integers(1, 300), st.binary(min_size=1, max_size=3))
def test_changed_multisig_is_only_ever_rejected(place, noise):
    data = bytearray(base64.b64decode(WITH_PASSKEY))
    data[place : place + len(noise)] = noise
    with pytest.raises(NotAllowedError):
        UserSignature.parse(bytes(data)).verify(MESSAGE)
