"""Multisigs of the client, compared with pysui, whose own classes write and read the same bytes."""

import base64

import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.sui.keystore import KeyPair, MultiSigSigner
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    SignatureScheme,
    UserSignature,
)

TRANSACTION = b"transaction bytes"


@pytest.fixture
def keys():
    return [
        KeyPair.from_secret(SignatureScheme(scheme), bytes([scheme + 1]) * 32)
        for scheme in range(3)
    ]


@pytest.fixture
def public_key(keys):
    members = tuple(
        MultiSigMember(key.scheme, key.public_key, 1 + index) for index, key in enumerate(keys)
    )
    return MultiSigPublicKey.of(members, 3)


@pytest.fixture
def peer(keys):
    from pysui.sui.sui_crypto import MultiSig as PysuiMultiSig
    from pysui.sui.sui_crypto import keypair_from_keystring

    return PysuiMultiSig([keypair_from_keystring(key.to_keystore()) for key in keys], [1, 2, 3], 3)


def test_multisig_address_equals_that_of_pysui(public_key, peer):
    assert str(public_key.address()) == peer.address


@pytest.mark.parametrize("signers", [[2], [0, 1], [1, 2], [0, 1, 2]])
def test_multisig_of_pysui_verifies_and_has_equal_bytes(keys, public_key, peer, signers):
    ours = [keys[index].sign(TRANSACTION) for index in signers]
    theirs = base64.b64decode(
        peer.signature_from(
            [peer.public_keys[index] for index in signers],
            [base64.b64encode(signature).decode() for signature in ours],
        )
    )
    signature = UserSignature.parse(theirs)
    signature.verify(TRANSACTION_INTENT + TRANSACTION)
    assert str(signature.address()) == peer.address
    assert MultiSig.combine(public_key, ours).encode() == theirs


def test_multisig_signed_by_pysui_verifies(peer):
    encoded = base64.b64encode(TRANSACTION).decode()
    signature = UserSignature.parse(base64.b64decode(peer.sign(encoded, peer.public_keys[:2])))
    signature.verify(TRANSACTION_INTENT + TRANSACTION)
    assert str(signature.address()) == peer.address


def test_signer_signs_with_the_available_members(keys, public_key):
    signer = MultiSigSigner(public_key, (keys[2], keys[0]))
    signature = UserSignature.parse(signer.sign(TRANSACTION))
    signature.verify(TRANSACTION_INTENT + TRANSACTION)
    assert signature.address() == signer.address == public_key.address()


def test_signer_fails_with_too_few_members(keys, public_key):
    with pytest.raises(ValidationError) as caught:
        MultiSigSigner(public_key, (keys[1],)).sign(TRANSACTION)
    assert caught.value.code == "multisig_not_enough"
