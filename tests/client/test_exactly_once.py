"""Payments that are reported as sent arrive exactly once."""

import asyncio

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from nexus_tools.client import KeyPair, Patience, SuiClient, gas_taken_mist
from nexus_tools.client.connection import Connection
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import TRANSACTION_DATA

QUICK = Patience(first_pause_s=0.001, longest_pause_s=0.01)
MIST = 1_000_000_000
CAROL = Address.of(0xCA401)


def pay(amount):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], CAROL)
    return builder


@pytest.fixture
async def signer(localnet):
    signer = KeyPair.new()
    localnet.fund(signer.address, 20 * MIST)
    return signer


async def test_programs_that_share_a_key_and_a_coin_pay_as_often_as_they_report(signer, localnet):
    async def transfer():
        async with SuiClient(localnet.network, signer, patience=QUICK) as client:
            return (await client.execute(pay(7))).digest

    done = await asyncio.gather(*(transfer() for _ in range(6)), return_exceptions=True)
    paid = [each for each in done if not isinstance(each, BaseException)]
    assert paid
    assert len(set(paid)) == len(paid)
    assert all(isinstance(each, NexusError) for each in done if each not in paid)
    async with SuiClient(localnet.network) as client:
        assert await client.balance(CAROL) == 7 * len(paid)


async def test_equal_transactions_built_for_one_coin_version_differ(signer, localnet):
    async with SuiClient(localnet.network, signer) as client:
        built = [TRANSACTION_DATA.decode(await client.build(pay(7))) for _ in range(2)]
    payments = {each.gas.payment for each in built}
    assert len(payments) == 1  # the same version of the same coin
    assert built[0].digest() != built[1].digest()


@pytest.fixture
def executes_late(monkeypatch):
    """Makes a node refuse the first payment, and execute it after the next call of `when`."""

    def executes_late(when):
        original, fields = Connection.call, []

        async def call(self, name, **given):
            procedure = name.rpartition("/")[2]
            if procedure == "ExecuteTransaction" and not fields:
                fields.append(given)
                raise RefusedOnChainError("refused_by_node", "busy", details={"attempts": 2})
            if procedure == when and len(fields) == 1:
                fields.append(None)
                answer = await _answer(original(self, name, **given))
                await original(self, "TransactionExecutionService/ExecuteTransaction", **fields[0])
                if isinstance(answer, NexusError):
                    raise answer
                return answer
            return await original(self, name, **given)

        monkeypatch.setattr(Connection, "call", call)

    return executes_late


async def _answer(call):
    try:
        return await call
    except NexusError as error:
        return error


async def test_a_payment_executed_before_its_inputs_are_read_is_reported(
    signer, localnet, executes_late
):
    async with SuiClient(localnet.network, signer, patience=QUICK) as client:
        await client.execute(pay(1))
        executes_late("GetEpoch")
        executed = await client.execute(pay(7), budget=5_000_000)
        assert (await client.transaction(executed.digest)).effects == executed.effects
        assert await client.balance(CAROL) == 8


async def test_a_payment_executed_after_it_was_looked_for_is_in_doubt(
    signer, localnet, executes_late
):
    async with SuiClient(localnet.network, signer, patience=QUICK) as client:
        executes_late("GetTransaction")
        with pytest.raises(UnreachableError) as caught:
            await client.execute(pay(7), budget=5_000_000)
        assert gas_taken_mist(caught.value) is None
        assert await client.balance(CAROL) == 7


async def test_a_refusal_after_a_lost_answer_tells_how_often_the_node_was_asked(localnet, signer):
    async with (
        Gateway(localnet.url).running() as gateway,
        SuiClient(gateway.network, signer, patience=QUICK) as client,
    ):
        gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, count=1)
        with pytest.raises(UnreachableError) as caught:
            await client.execute(pay(7), budget=1)  # below the least budget: refused
        assert caught.value.details["attempts"] == 2
        assert caught.value.details["digest"] in caught.value.hint
