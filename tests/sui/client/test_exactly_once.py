"""Payments that are reported as sent arrive exactly once."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError
from nexus_tools.sui.client import GasSource, RetryPolicy, SuiClient, failure_gas_mist
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.transactions.sent_transactions import (
    SentTransaction,
    name_uncertain_transactions,
    require_excluded,
)
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.transaction import TRANSACTION_DATA
from nexus_tools.sui.types.type_tag import SUI

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)
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


async def test_programs_with_one_key_and_coin_pay_as_often_as_they_report(signer, localnet):
    async def transfer():
        async with SuiClient(localnet.network, signer, retry_policy=QUICK) as client:
            return (await client.execute(pay(7))).digest

    done = await asyncio.gather(*(transfer() for _ in range(6)), return_exceptions=True)
    paid = [outcome for outcome in done if not isinstance(outcome, BaseException)]
    assert paid
    assert len(set(paid)) == len(paid)
    assert all(isinstance(outcome, NexusError) for outcome in done if outcome not in paid)
    async with SuiClient(localnet.network) as client:
        assert await client.balance(CAROL) == 7 * len(paid)


async def test_equal_transactions_for_one_coin_version_differ(signer, localnet):
    async with SuiClient(localnet.network, signer) as client:
        built = [TRANSACTION_DATA.decode(await client.build(pay(7))) for _ in range(2)]
    payments = {data.gas.payment for data in built}
    assert len(payments) == 1  # the same version of the same coin
    assert built[0].digest() != built[1].digest()


@pytest.fixture
def executes_late(monkeypatch):
    """Make a node refuse the first payment, and execute it after the next call of `when`."""

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


async def test_payment_executed_before_its_inputs_are_read_is_reported(
    signer, localnet, executes_late
):
    async with SuiClient(localnet.network, signer, retry_policy=QUICK) as client:
        await client.execute(pay(1))
        executes_late("GetEpoch")
        executed = await client.execute(pay(7), budget=5_000_000)
        assert (await client.transaction(executed.digest)).effects == executed.effects
        assert await client.balance(CAROL) == 8


async def test_payment_executed_after_its_look_up_is_reported(signer, localnet, executes_late):
    async with SuiClient(localnet.network, signer, retry_policy=QUICK) as client:
        executes_late("GetTransaction")
        executed = await client.execute(pay(7), budget=5_000_000)
        assert (await client.transaction(executed.digest)).effects == executed.effects
        assert await client.balance(CAROL) == 7


async def test_refusal_after_a_lost_answer_has_the_number_of_attempts(localnet, signer):
    async with (
        Gateway(localnet.url).running() as gateway,
        SuiClient(gateway.network, signer, retry_policy=QUICK) as client,
    ):
        gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, count=1)
        with pytest.raises(UnreachableError) as caught:
            await client.execute(pay(7), budget=1)  # below the minimum budget: refused
        assert caught.value.details["attempts"] == 2
        assert caught.value.details["digest"] in caught.value.hint


# --- Nodes that execute a payment and deny it

LOST = (StatusCode.UNAVAILABLE, "connection reset", True)
STALE = (StatusCode.INVALID_ARGUMENT, "object version is unavailable for consumption", False)
DENIED = (*STALE[:2], True)
UNKNOWN = (StatusCode.NOT_FOUND, "Transaction not found", False)
NEVER = [UNKNOWN] * 1_000


class LyingGateway(Gateway):
    """A gateway with failures by procedure; `meanwhile` runs before the second transaction."""

    def __init__(self, url, **failures):
        super().__init__(url)
        self.meanwhile = None
        for name, in_turn in failures.items():
            self.fail_in_turn(name, *in_turn)

    async def _next_failure(self, name):
        failure = await super()._next_failure(name)
        if name == "ExecuteTransaction" and self.meanwhile and self.requests[name] == 2:
            await self.meanwhile()
        return failure


@pytest.fixture
async def lying(localnet, signer):
    """Return a factory of clients whose node lies; `lying.gateway` is that node."""
    async with AsyncExitStack() as stack:

        async def lying(**failures):
            gateway = LyingGateway(localnet.url, **failures)
            lying.gateway = await stack.enter_async_context(gateway.running())
            return await stack.enter_async_context(
                SuiClient(gateway.network, signer, retry_policy=QUICK)
            )

        yield lying


async def received(localnet):
    async with SuiClient(localnet.network) as client:
        return await client.balance(CAROL)


async def test_payment_is_found_when_the_node_lists_it_late(lying, localnet):
    client = await lying(ExecuteTransaction=[LOST, STALE], GetTransaction=[UNKNOWN])
    executed = await client.execute(pay(7))
    assert (await client.transaction(executed.digest)).effects == executed.effects
    assert await received(localnet) == 7


@pytest.mark.parametrize(
    "answers", [[LOST, STALE] * 20, [DENIED] * 20, [LOST, LOST, STALE, DENIED] * 20]
)
@pytest.mark.parametrize("budget", [None, 5_000_000])
async def test_payment_denied_by_the_node_is_uncertain(lying, localnet, answers, budget):
    client = await lying(ExecuteTransaction=answers, GetTransaction=NEVER)
    with pytest.raises(NexusError) as caught:
        await client.execute(pay(7), budget=budget)
    assert failure_gas_mist(caught.value) is None
    assert caught.value.details["digest"] in caught.value.hint
    async with SuiClient(localnet.network) as honest:
        digest = Digest.parse(caught.value.details["digest"])
        assert await honest.transaction(digest) is not None
    assert await received(localnet) == 7


async def test_denied_payment_of_all_coins_is_not_a_shortage(lying, localnet):
    client = await lying(ExecuteTransaction=[DENIED] * 20, GetTransaction=NEVER)
    with pytest.raises(UnreachableError) as caught:
        await client.execute(pay(15 * MIST))  # leaves too little for another one
    assert caught.value.details["digest"] in caught.value.hint
    assert await received(localnet) == 15 * MIST


async def test_denied_payment_from_the_address_balance_is_uncertain(lying, localnet, signer):
    async with SuiClient(localnet.network, signer) as honest:
        deposit = TransactionBuilder()
        coin = deposit.split_coins(deposit.gas, [10 * MIST])[0]
        deposit.deposit(coin, signer.address, SUI)
        await honest.execute(deposit)
    builder = TransactionBuilder()
    money = builder.withdrawal(7, SUI)
    coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [money], (SUI,))
    builder.transfer_objects([coin], CAROL)
    client = await lying(ExecuteTransaction=[DENIED] * 20, GetTransaction=NEVER)
    with pytest.raises(NexusError) as caught:
        await client.execute(builder, gas=GasSource.ADDRESS_BALANCE)
    assert failure_gas_mist(caught.value) is None
    assert await received(localnet) == 7


async def test_signed_bytes_are_found_when_the_node_refuses_a_retry(lying, localnet):
    client = await lying(ExecuteTransaction=[LOST, STALE])
    executed = await client.execute_transaction(await client.build(pay(7)))
    assert (await client.transaction(executed.digest)).effects == executed.effects
    assert await received(localnet) == 7


@pytest.mark.parametrize("answers", [[LOST, STALE], [LOST] * 20])
async def test_signed_bytes_are_named_when_their_outcome_is_unknown(lying, answers):
    client = await lying(ExecuteTransaction=answers, GetTransaction=NEVER)
    data = await client.build(pay(7))
    with pytest.raises(UnreachableError) as caught:
        await client.execute_transaction(data)
    assert caught.value.details["digest"] == str(TRANSACTION_DATA.decode(data).digest())
    assert failure_gas_mist(caught.value) is None


async def test_cancelled_call_names_the_denied_payment(lying, localnet):
    client = await lying(ExecuteTransaction=[DENIED], GetTransaction=NEVER)
    calling = asyncio.create_task(client.execute(pay(7)))
    await lying.gateway.asked("ExecuteTransaction", 1)
    await lying.gateway.asked("GetTransaction", 1)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await calling
    [note] = cancelled.value.__notes__
    assert "may have been executed" in note
    assert await received(localnet) == 7


async def test_lost_payment_is_repeated_when_another_has_used_its_coin(lying, localnet, signer):
    """The node has lost the first request: it never executes it, and shows the other payment."""
    client = await lying(ExecuteTransaction=[(*LOST[:2], False)])

    async def pay_otherwise():
        async with SuiClient(localnet.network, signer) as other:
            await other.execute(pay(1))

    lying.gateway.meanwhile = pay_otherwise
    await client.execute(pay(7), budget=5_000_000)
    assert await received(localnet) == 8


async def test_payment_is_repeated_only_after_a_transaction_excludes_it(signer, localnet):
    async with SuiClient(localnet.network, signer) as client:
        [before] = await client.coins(signer.address)
        first = await client.execute(pay(1))
        [between] = await client.coins(signer.address)
        second = await client.execute(pay(1))
        [after] = await client.coins(signer.address)

        async def excludes(sent, coin):
            try:
                await require_excluded(client.connection, sent, [coin.reference])
            except UnreachableError:
                return False
            return True

        never = SentTransaction(Digest(bytes(32)), frozenset({before.reference}))
        executed = SentTransaction(first.digest, frozenset({before.reference}))
        unpaid = SentTransaction(second.digest, frozenset())
        cases = [(never, before), (never, between), (never, after), (executed, before)]
        assert [await excludes(*case) for case in cases] == [True] * 4
        cases = [(executed, between), (executed, after), (unpaid, after)]
        assert [await excludes(*case) for case in cases] == [False] * 3


async def test_superseded_payment_reports_that_nothing_was_paid(signer, localnet):
    async with SuiClient(localnet.network, signer) as client:
        [before] = await client.coins(signer.address)
        await client.execute(pay(1))
        localnet.fund(signer.address, 10**9)
        coins = await client.coins(signer.address)
        used_id = before.reference.object_id
        [other] = [coin for coin in coins if coin.reference.object_id != used_id]
        sent = SentTransaction(Digest(bytes(32)), frozenset({before.reference}))
        with pytest.raises(UnreachableError, match="did not prove") as caught:
            async with name_uncertain_transactions(client.connection, [sent]):
                await require_excluded(client.connection, sent, [other.reference])
    assert "Nothing was paid" in caught.value.hint
    assert "Send the transaction again" in caught.value.hint


async def test_node_cannot_forge_a_transaction_that_excludes_another(signer, localnet):
    class Forger(Gateway):
        """A node that returns the bytes of one transaction in place of every other."""

        async def _call(self, name, forward, request, context):
            if name == "GetTransaction":
                asked = load_messages().message("sui.rpc.v2.GetTransactionRequest")()
                asked.MergeFromString(request)
                asked.digest = self.shown
                request = asked.SerializeToString()
            return await super()._call(name, forward, request, context)

    async with SuiClient(localnet.network, signer) as client:
        [before] = await client.coins(signer.address)
        first = await client.execute(pay(1))
        await client.execute(pay(1))
        [after] = await client.coins(signer.address)
    sent = SentTransaction(first.digest, frozenset({before.reference}))
    forger = Forger(localnet.url)
    forger.shown = str(first.digest)  # it names the coin, and replaces the second one
    async with forger.running(), SuiClient(forger.network, signer, retry_policy=QUICK) as client:
        with pytest.raises(UnreachableError, match="did not prove"):
            await require_excluded(client.connection, sent, [after.reference])
        assert forger.requests["GetTransaction"] == 1
