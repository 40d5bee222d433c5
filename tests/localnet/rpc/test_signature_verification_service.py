import grpc
import pytest

from nexus_tools.sui.bcs import byte_vector
from nexus_tools.sui.digest import blake2b256
from nexus_tools.sui.signature import PERSONAL_MESSAGE_INTENT

VERIFY = "SignatureVerificationService/VerifySignature"


def personal(account, text):
    """A signature of a personal message, and the message."""
    message = byte_vector.encode(text)
    signature = account.key.sign(blake2b256(PERSONAL_MESSAGE_INTENT, message))
    whole = b"\0" + signature + account.public_key
    return {
        "message": {"name": "PersonalMessage", "value": message},
        "signature": {"bcs": {"value": whole}},
    }


def test_a_good_signature_is_valid(client, alice):
    response = client.call(VERIFY, **personal(alice, b"hello"), address=str(alice.address))
    assert response.is_valid


def test_a_signature_of_something_else_is_not_valid(client, alice):
    fields = personal(alice, b"hello")
    fields["message"] = personal(alice, b"goodbye")["message"]
    response = client.call(VERIFY, **fields)
    assert not response.is_valid
    assert response.reason


def test_a_signature_of_someone_else_is_not_valid(client, alice, bob):
    response = client.call(VERIFY, **personal(alice, b"hello"), address=str(bob.address))
    assert not response.is_valid
    assert str(alice.address) in response.reason


def test_a_transaction_is_recognized_without_its_name(client, alice, builder):
    builder.transfer_objects([builder.gas], alice.address)
    data = alice.transaction(client, builder)
    response = client.call(
        VERIFY, message={"value": data}, signature={"bcs": {"value": alice.sign(data)}}
    )
    assert response.is_valid


@pytest.mark.parametrize("missing", ["message", "signature"])
def test_what_is_missing_is_named(client, alice, missing):
    fields = personal(alice, b"hello")
    del fields[missing]
    with pytest.raises(grpc.RpcError) as caught:
        client.call(VERIFY, **fields)
    assert caught.value.details() == f"missing {missing}"
