"""Transactions of signers outside the process, on a real chain."""

import asyncio

import pytest

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.sui.client.any_loop_client import AnyLoopClient
from nexus_tools.sui.keystore import MultiSigSigner
from nexus_tools.sui.signature import MultiSigMember, MultiSigPublicKey
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

RECIPIENT = Address.of(0xB0B)
MIST = 10**9


class Outside:
    """A signer that answers later. The first `errors` are raised, one for each transaction."""

    def __init__(self, own, *errors):
        self.address = own.address
        self._own = own
        self._errors = list(errors)
        self.transactions = []

    async def sign(self, transaction):
        await asyncio.sleep(0)
        self.transactions.append(transaction)
        if self._errors:
            raise self._errors.pop(0)
        return self._own.sign(transaction)


def transfer(amount):
    builder = TransactionBuilder()
    builder.transfer_objects(builder.split_coins(builder.gas, [amount]), RECIPIENT)
    return builder


async def test_transaction_of_an_outside_signer_is_executed(chain):
    signer = Outside(chain.alice)
    async with chain.client(signer) as client:
        await client.execute(transfer(7))
        encoded = await client.build(transfer(8))
        await client.execute_transaction(encoded)
        assert await client.balance(RECIPIENT) == 15
    assert signer.transactions[-1] == encoded


async def test_coins_are_free_again_after_a_signer_failed(chain, calls):
    """The same coin pays for the next transaction, and the pool need not read it again."""
    async with chain.client(Outside(chain.alice, ValueError("broken"))) as client:
        with pytest.raises(ValueError, match="broken"):
            await client.execute(transfer(1))
        calls.clear()
        await client.execute(transfer(2))
        assert await client.balance(RECIPIENT) == 2
        assert calls["ListOwnedObjects"] == 0


async def test_transaction_of_an_unreachable_signer_can_be_repeated(chain):
    lost = UnreachableError("signer_unreachable", "the signer does not respond")
    async with chain.client(Outside(chain.alice, lost), parallel=2) as client:
        results = await asyncio.gather(
            client.execute(transfer(1)), client.execute(transfer(2)), return_exceptions=True
        )
        assert [result for result in results if isinstance(result, Exception)] == [lost]
        assert "digest" not in lost.details
        await client.execute(transfer(4))
        assert await client.balance(RECIPIENT) in (5, 6)


async def test_signature_for_other_bytes_is_not_sent(chain, calls):
    class Wrong(Outside):
        async def sign(self, transaction):
            return self._own.sign(transaction + b"\0")

    async with chain.client(Wrong(chain.alice)) as client:
        with pytest.raises(NexusError) as caught:
            await client.execute(transfer(1))
    assert caught.value.code == "signature_invalid"
    assert calls["ExecuteTransaction"] == 0


def test_client_for_any_loop_takes_an_outside_signer(chain):
    client = AnyLoopClient(chain.network, Outside(chain.alice))
    asyncio.run(client.execute(transfer(3)))
    asyncio.run(client.execute(transfer(4)))
    assert asyncio.run(client.balance(RECIPIENT)) == 7


async def test_multisig_with_an_outside_member_pays(chain):
    keys = (chain.alice, chain.bob)
    committee = MultiSigPublicKey.of(
        tuple(MultiSigMember(own.scheme, own.public_key, 1) for own in keys), 2
    )
    signer = MultiSigSigner(committee, (chain.alice, Outside(chain.bob)))
    chain.net.fund(signer.address, MIST)
    async with chain.client(signer) as client:
        await client.execute(transfer(9))
        assert await client.balance(RECIPIENT) == 9
