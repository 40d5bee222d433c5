"""Signers inside and outside the process."""

import asyncio
import json
from base64 import b64decode
from pathlib import Path

import pytest

from nexus_tools.errors import NexusError, NotAllowedError, UnreachableError
from nexus_tools.sui.keystore import KeyPair, MultiSigSigner, sign_transaction
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    MultiSig,
    MultiSigMember,
    MultiSigPublicKey,
    SignatureScheme,
    UserSignature,
)

pytestmark = pytest.mark.anyio

TRANSACTION = b"transaction bytes"
OTHER = b"other bytes"
TIMEOUT_S = 60


def key(number, scheme=SignatureScheme.ED25519):
    return KeyPair.from_secret(scheme, bytes([number]) * 32)


class Service:
    """A signer outside the process. `result` is the signature, or an error that it raises."""

    def __init__(self, own, result=None):
        self._own = own
        self._result = result
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()
        self.allowed = asyncio.Event()
        self.allowed.set()

    @property
    def address(self):
        return self._own.address

    async def sign(self, transaction):
        self.asked.set()
        try:
            await self.allowed.wait()
        finally:
            self.ended.set()
        if isinstance(self._result, BaseException):
            raise self._result
        return self._own.sign(transaction) if self._result is None else self._result


class Handwritten:
    """A synchronous signer that a user wrote. It knows nothing about awaitables."""

    def __init__(self, own, signed=None):
        self.address = own.address
        self._own, self._signed = own, signed

    def sign(self, transaction):
        return self._own.sign(self._signed or transaction)


@pytest.mark.parametrize("scheme", [0, 1, 2])
@pytest.mark.parametrize("wrap", [Service, Handwritten, lambda own: own])
async def test_signature_of_a_signer_is_valid_for_its_address(scheme, wrap):
    own = key(1, SignatureScheme(scheme))
    signature = UserSignature.parse(await sign_transaction(wrap(own), TRANSACTION))
    signature.verify(TRANSACTION_INTENT + TRANSACTION)
    assert signature.address() == own.address


@pytest.mark.parametrize(
    ("signer", "code"),
    [
        (lambda own: Service(own, key(2).sign(TRANSACTION)), "signature_of_other_key"),
        (lambda own: Service(own, own.sign(OTHER)), "signature_invalid"),
        (lambda own: Service(own, b""), "signature_malformed"),
        (lambda own: Service(own, own.sign(TRANSACTION)[:-1]), "signature_malformed"),
        (lambda own: Service(own, "AAAA"), "signature_malformed"),
        (lambda own: Handwritten(own, OTHER), "signature_invalid"),
    ],
)
async def test_signature_is_refused_unless_it_is_of_the_key_and_the_bytes(signer, code):
    with pytest.raises(NexusError) as caught:
        await sign_transaction(signer(key(1)), TRANSACTION)
    assert caught.value.code == code


async def test_zklogin_signature_is_left_to_the_network():
    """No program but a validator checks proofs. The vector is a signature of the real network."""
    vectors = json.loads((Path(__file__).parents[2] / "vectors/signatures.json").read_text())
    zklogin = next(
        b64decode(vector["signature"]) for vector in vectors if vector["scheme"] == "ZK_LOGIN"
    )
    assert await sign_transaction(Service(key(1), zklogin), TRANSACTION) == zklogin


async def test_signing_ends_at_its_limit():
    service = Service(key(1))
    service.allowed.clear()
    with pytest.raises(UnreachableError) as caught:
        await sign_transaction(service, TRANSACTION, timeout_s=0)
    assert caught.value.code == "signer_timeout"
    assert str(service.address) in caught.value.message


@pytest.mark.parametrize("error", [TimeoutError("own"), NotAllowedError("no", "refused")])
async def test_error_of_a_signer_reaches_the_caller(error):
    with pytest.raises(type(error)) as caught:
        await sign_transaction(Service(key(1), error), TRANSACTION)
    assert caught.value is error


# --- Multisigs


@pytest.fixture
def keys():
    return [key(number, SignatureScheme(number)) for number in range(3)]


@pytest.fixture
def committee(keys):
    members = tuple(MultiSigMember(own.scheme, own.public_key, 1) for own in keys)
    return MultiSigPublicKey.of(members, 3)


async def test_multisig_members_outside_the_process_sign_in_parallel(keys, committee):
    first, second = Service(keys[0]), Service(keys[2])
    first.allowed.clear()
    second.allowed.clear()
    signer = MultiSigSigner(committee, (first, keys[1], second))
    signing = asyncio.create_task(sign_transaction(signer, TRANSACTION))
    async with asyncio.timeout(TIMEOUT_S):
        await first.asked.wait()
        await second.asked.wait()
        second.allowed.set()
        first.allowed.set()
        signature = await signing
    expected = MultiSig.combine(committee, [own.sign(TRANSACTION) for own in keys])
    assert signature == expected.encode()


async def test_multisig_fails_if_a_member_fails(keys, committee):
    stuck, broken = Service(keys[0]), Service(keys[2], NotAllowedError("no", "refused"))
    stuck.allowed.clear()
    signer = MultiSigSigner(committee, (stuck, keys[1], broken))
    with pytest.raises(NotAllowedError, match="refused"):
        await sign_transaction(signer, TRANSACTION)
    async with asyncio.timeout(TIMEOUT_S):
        await stuck.ended.wait()


async def test_multisig_fails_without_asking_members_if_one_cannot_sign(keys, committee):
    class Broken(Handwritten):
        def sign(self, transaction):
            raise ValueError(len(transaction))

    first = Service(keys[0])
    with pytest.raises(ValueError, match=str(len(TRANSACTION))):
        await sign_transaction(
            MultiSigSigner(committee, (first, keys[1], Broken(keys[2]))), TRANSACTION
        )
    assert not first.asked.is_set()


async def test_multisig_member_that_signs_other_bytes_is_noticed(keys, committee):
    wrong = Service(keys[2], keys[2].sign(OTHER))
    with pytest.raises(NotAllowedError) as caught:
        await sign_transaction(MultiSigSigner(committee, (*keys[:2], wrong)), TRANSACTION)
    assert caught.value.code == "signature_invalid"
