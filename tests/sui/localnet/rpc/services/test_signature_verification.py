import base64
from types import SimpleNamespace

import grpc
import pytest

from nexus_tools.sui.bcs import byte_vector
from nexus_tools.sui.signature import (
    PERSONAL_MESSAGE_INTENT,
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    SignatureScheme,
)
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.digest import blake2b256
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.transaction import GasData, TransactionData

VERIFY = "SignatureVerificationService/VerifySignature"


def personal_signature(account, text):
    """Return a signature of a personal message, and the message."""
    message = byte_vector.encode(text)
    signature = account.key.sign(blake2b256(PERSONAL_MESSAGE_INTENT, message))
    whole = b"\0" + signature + account.public_key
    return {
        "message": {"name": "PersonalMessage", "value": message},
        "signature": {"bcs": {"value": whole}},
    }


def test_correct_signature_is_valid(client, alice):
    response = client.call(
        VERIFY, **personal_signature(alice, b"hello"), address=str(alice.address)
    )
    assert response.is_valid


def test_signature_of_another_message_is_not_valid(client, alice):
    fields = personal_signature(alice, b"hello")
    fields["message"] = personal_signature(alice, b"goodbye")["message"]
    response = client.call(VERIFY, **fields)
    assert not response.is_valid
    assert response.reason


def test_signature_of_another_account_is_not_valid(client, alice, bob):
    response = client.call(VERIFY, **personal_signature(alice, b"hello"), address=str(bob.address))
    assert not response.is_valid
    assert str(alice.address) in response.reason


def test_transaction_is_recognized_without_its_name(client, alice, builder):
    builder.transfer_objects([builder.gas], alice.address)
    data = alice.transaction(client, builder)
    response = client.call(
        VERIFY, message={"value": data}, signature={"bcs": {"value": alice.sign(data)}}
    )
    assert response.is_valid


@pytest.mark.parametrize("missing", ["message", "signature"])
def test_missing_fields_are_named(client, alice, missing):
    fields = personal_signature(alice, b"hello")
    del fields[missing]
    with pytest.raises(grpc.RpcError) as caught:
        client.call(VERIFY, **fields)
    assert caught.value.details() == f"missing {missing}"


# --- Signatures of several members and of passkeys

# From an iPhone; published in the tests of MystenLabs/ts-sdks.
PASSKEY = (
    "BiVJlg3liA6MaHQ0Fw9kdmBbj+SuuaKGMseZXPO6gx2XYx0AAAAAhgF7InR5cGUiOiJ3ZWJhdXRobi5nZXQiLCJjaGFs"
    "bGVuZ2UiOiJZRG9vQ2RGRnRLLVJBZ3JzaUZqM1hpU1VPQ2pzWXJPWnRGcHVISGhvNDhZIiwib3JpZ2luIjoiaHR0cDov"
    "L2xvY2FsaG9zdDo1MTczIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfWIChCx2fLGV+dwNRbTqfCvii70DMj1HiHij5oR9KjZm"
    "FMpGQJz3l0ZsNpi0zGQtw81Hj+X+CSshhkcteCzVOJlpKAN2ZM3l9Wxn5TYJFdHc9VphEGzoyTTOfUjpZ7fQV2gt6A=="
)
PASSKEY_TRANSACTION = (
    "AAAAAFTTJ1JTZKCS6Q6aQS2bkY5gsmP//JTTwIzqsKqnltvLAS6VBPgonu3+e2qJUje77aMw0hTzv7mfKxBglq17ccif"
    "BgIAAAAAAAAgb2Je8hW/vUH9otcR+oc1RdjZ2W2oaCNgMu0gTpAVfbNU0ydSU2SgkukOmkEtm5GOYLJj//yU08CM6rCq"
    "p5bby+gDAAAAAAAAgIQeAAAAAAAA"
)
PASSKEY_ADDRESS = "0x54d327525364a092e90e9a412d9b918e60b263fffc94d3c08ceab0aaa796dbcb"


def whole(account, message):
    signature = account.key.sign(blake2b256(PERSONAL_MESSAGE_INTENT, message))
    return b"\0" + signature + account.public_key


@pytest.fixture
def committee(alice, bob):
    members = tuple(
        MultiSigMember(SignatureScheme.ED25519, item.public_key) for item in (alice, bob)
    )
    return MultiSigPublicKey.of(members, 2)


@pytest.fixture
def signed_by_committee(alice, bob, committee):
    """Return a message and the multisig of both accounts."""
    message = byte_vector.encode(b"hello")
    return message, MultiSig.combine(committee, [whole(item, message) for item in (alice, bob)])


def verify(client, message, signature, **fields):
    return client.call(
        VERIFY, message={"value": message}, signature={"bcs": {"value": signature}}, **fields
    )


def test_passkey_is_verified_with_its_address(client):
    data, signature = map(base64.b64decode, (PASSKEY_TRANSACTION, PASSKEY))
    assert verify(client, data, signature, address=PASSKEY_ADDRESS).is_valid
    response = verify(client, byte_vector.encode(b"hello"), signature)
    assert not response.is_valid
    assert response.reason == "signature error: Invalid challenge"


def test_multisig_is_verified_with_its_address(client, signed_by_committee, committee, alice):
    message, signature = signed_by_committee
    assert verify(client, message, signature.encode(), address=str(committee.address())).is_valid
    response = verify(client, message, signature.encode(), address=str(alice.address))
    assert response.reason == (
        f"provided address `{alice.address}` does not match derived address `{committee.address()}`"
    )


def test_signature_may_be_wrapped_in_bcs(client, signed_by_committee):
    message, signature = signed_by_committee
    assert verify(client, message, byte_vector.encode(signature.encode())).is_valid


def test_bitmap_with_more_members_than_signatures_is_not_valid(client, signed_by_committee):
    message, signature = signed_by_committee
    odd = MultiSig(signature.signatures[:1], 0b11, signature.public_key)
    response = verify(client, message, odd.encode())
    assert response.reason == "signature error: number of signatures does not match bitmap"


def test_impossible_committee_is_not_valid(client, signed_by_committee):
    message, signature = signed_by_committee
    public_key = MultiSigPublicKey(signature.public_key.members, 3)
    odd = MultiSig(signature.signatures, 0b11, public_key)
    response = verify(client, message, odd.encode())
    assert response.reason == "signature error: Invalid multisig pubkey"


def test_multisig_may_be_a_message(client, signed_by_committee):
    message, signature = signed_by_committee
    parts = {
        "signatures": [
            {"scheme": 0, "signature": entry.signature} for entry in signature.signatures
        ],
        "bitmap": 0b11,
        "committee": {
            "threshold": 2,
            "members": [
                {"public_key": {"scheme": 0, "public_key": member.public_key}, "weight": 1}
                for member in signature.public_key.members
            ],
        },
    }
    response = client.call(VERIFY, message={"value": message}, signature={"multisig": parts})
    assert response.is_valid


@pytest.mark.parametrize(
    "fields",
    [
        {"bcs": {"value": b""}},
        {"bcs": {"value": b"\3\1"}},
        {"scheme": 0},
        {"simple": {"scheme": 77}},
        {"multisig": {"bitmap": 1 << 16}},
        {"multisig": {"signatures": [{"scheme": 0, "signature": b"short"}]}},
        {"passkey": {"client_data_json": "{}"}},
    ],
    ids=["empty", "cut", "nothing", "scheme", "bitmap", "length", "passkey"],
)
def test_malformed_signature_is_refused(client, fields):
    with pytest.raises(grpc.RpcError) as caught:
        client.call(VERIFY, message={"value": byte_vector.encode(b"hello")}, signature=fields)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details().startswith("invalid signature: ")


def test_provider_keys_must_be_complete(client, alice):
    fields = personal_signature(alice, b"hello")
    jwk = {"kty": "RSA", "e": "AQAB", "n": "1", "alg": "RS256"}
    whole_key = {"id": {"iss": "https://id.twitch.tv/oauth2", "kid": "1"}, "jwk": jwk, "epoch": 0}
    assert client.call(VERIFY, **fields, jwks=[whole_key]).is_valid
    with pytest.raises(grpc.RpcError) as caught:
        client.call(VERIFY, **fields, jwks=[whole_key, {"jwk": jwk}])
    assert caught.value.details() == "jwks[1]: missing iss"


def test_multisig_is_executed_and_rendered_with_its_parts(client, localnet, alice, bob, committee):
    localnet.fund(committee.address(), 1_000_000_000)
    owner = SimpleNamespace(address=committee.address())
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [5])[0]], bob.address)
    coins = type(alice).coins(owner, client)
    gas = GasData(tuple(coins[:1]), committee.address(), 1000, 100_000_000)
    data = TransactionData(builder.finish(), committee.address(), gas, NoExpiration()).encode()
    signature = MultiSig.combine(committee, [alice.sign(data), bob.sign(data)])
    executed = client.call(
        "TransactionExecutionService/ExecuteTransaction",
        "*",
        transaction={"bcs": {"value": data}},
        signatures=[{"bcs": {"value": signature.encode()}}],
    ).transaction
    assert executed.effects.status.success
    (shown,) = executed.signatures
    assert (shown.scheme, shown.multisig.bitmap, shown.multisig.committee.threshold) == (3, 3, 2)
    assert [member.public_key.public_key for member in shown.multisig.committee.members] == [
        alice.public_key,
        bob.public_key,
    ]
    assert [entry.signature for entry in shown.multisig.signatures] == [
        alice.sign(data)[1:65],
        bob.sign(data)[1:65],
    ]
