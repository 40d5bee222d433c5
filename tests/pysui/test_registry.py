"""A method of the registry is one transaction, which pysui pays, signs and executes."""

import asyncio

import pytest
from pysui.sui.sui_common.txn_signing import SigningMultiSig
from pysui.sui.sui_crypto import MultiSig

from nexus_tools.contracts import ToolState
from nexus_tools.contracts.move_bindings.collateral import CollateralClaimed
from nexus_tools.contracts.move_bindings.invocation import InvocationSettled
from nexus_tools.errors import NexusError, NotAllowedError, ValidationError, WrongStateError
from nexus_tools.pysui import PysuiRegistry
from nexus_tools.registry import Registration
from nexus_tools.sui.client import Executed, GasSource
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.type_tag import SUI as SUI_TYPE
from nexus_tools.tool import Answer, Failure, FailureReason

ADD = "xyz.example.math.add@1"
SUI = 10**9
WEEK_MS = 7 * 24 * 3_600_000


async def test_register_creates_a_tool_of_the_active_address(registry, added, keys, own_leader):
    assert added.state is ToolState.ACTIVE
    assert (added.price_mist, added.collateral.balance_mist) == (500, SUI)
    assert added.leaders.entries == (own_leader,)
    assert await registry.tools.owner(added) == keys[0].address


async def test_register_returns_the_transaction_that_pysui_executed(registry, define):
    result = await registry.tools.register(define())
    assert isinstance(result.sent, Executed)
    found = await registry.nexus.client.transaction(result.sent.digest)
    assert found.effects == result.sent.effects
    assert found.events == result.sent.events
    assert found.types == result.sent.types


async def test_register_sends_nothing_when_the_tool_is_registered(registry, added, define):
    assert (await registry.tools.register(define())).sent is None


async def test_request_prepays_an_invocation(registry, added, requested, keys):
    invocation = await registry.invocations.get(requested)
    assert invocation.requester == keys[0].address
    assert not invocation.is_closed


async def test_close_settles_an_invocation_as_a_worker(registry, requested, own_leader):
    answer = Answer("ok", {"result": 3})
    sent = await registry.invocations.close(own_leader, {requested: answer})
    assert registry.invocations.emitted(sent, InvocationSettled).invocation == requested
    assert await registry.invocations.outcome(requested) == answer


async def test_close_with_a_budget_is_not_simulated(registry, requested, own_leader):
    failure = Failure(FailureReason.UNREACHABLE, "connection refused")
    outcomes = {requested: failure}
    sent = await registry.invocations.close(own_leader, outcomes, budget=50_000_000)
    assert sent.cost.net > 0
    assert await registry.invocations.outcome(requested) == failure


async def test_delete_returns_the_storage_deposit(registry, requested, own_leader):
    await registry.invocations.close(own_leader, {requested: Answer("ok", {"result": 3})})
    sent = await registry.invocations.delete(requested)
    assert sent.cost.storage_rebate > sent.cost.storage_cost
    assert await registry.nexus.client.object(requested) is None


async def test_claim_pays_collateral_to_the_address_balance(registry, added, keys, chain):
    await registry.tools.unregister(ADD)
    chain.net.advance_clock(WEEK_MS)
    sent = await registry.tools.claim(ADD)
    assert registry.tools.emitted(sent, CollateralClaimed).amount_mist == SUI
    assert (await registry.nexus.client.balance_parts(keys[0].address)).in_address == SUI


async def test_claim_explains_the_abort_and_costs_nothing(registry, added, keys, chain):
    await registry.tools.unregister(ADD)
    balance = await registry.nexus.client.balance(keys[0].address)
    with pytest.raises(WrongStateError) as caught:
        await registry.tools.claim(ADD)
    assert caught.value.code == "delay_not_over"
    assert "claimable at" in caught.value.message
    assert caught.value.details["wait_ms"] == WEEK_MS
    assert await registry.nexus.client.balance(keys[0].address) == balance


async def test_check_fails_before_anything_is_built(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.tools.register(Registration(define(), price_mist=500))
    assert caught.value.code == "accepts_any_leader"


async def test_methods_that_run_at_once_take_turns(registry, define):
    fqns = [f"xyz.example.math.add{number}@1" for number in range(3)]
    await asyncio.gather(*(registry.tools.register(define(fqn)) for fqn in fqns))
    assert [tool.fqn async for tool in registry.tools.iterate()] == fqns


# --- Payment


async def test_collateral_is_not_locked_when_sui_is_insufficient(open_client, chain, keys, define):
    chain.net.fund(keys[0].address, SUI // 2)
    async with (
        open_client(chain.net.url, keys[0]) as client,
        PysuiRegistry.connect(client, deployment=chain.deployment) as registry,
    ):
        with pytest.raises(WrongStateError) as caught:
            await registry.tools.register(define())
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["available_mist"] == SUI // 2
    assert caught.value.details["required_mist"] > SUI
    assert str(keys[0].address) in caught.value.hint


async def test_register_fails_when_the_wallet_is_empty(open_client, chain, keys, define):
    async with (
        open_client(chain.net.url, keys[1]) as client,
        PysuiRegistry.connect(client, deployment=chain.deployment) as registry,
    ):
        with pytest.raises(WrongStateError) as caught:
            await registry.tools.register(define())
    assert caught.value.code == "not_enough_sui"


@pytest.fixture
async def deposited(owner, keys):
    """Deposit 5 SUI in the address balance of the active key."""
    builder = TransactionBuilder()
    (coin,) = builder.split_coins(builder.gas, [5 * SUI])
    builder.deposit(coin, keys[0].address, SUI_TYPE)
    await owner.execute(builder)


@pytest.mark.usefixtures("deposited")
async def test_address_balance_pays_with_auto_gas(client, chain, keys, define):
    options = {"deployment": chain.deployment, "auto_gas": True}
    async with PysuiRegistry.connect(client, **options) as registry:
        before = await registry.nexus.client.balance_parts(keys[0].address)
        sent = (await registry.tools.register(define())).sent
        after = await registry.nexus.client.balance_parts(keys[0].address)
    assert after.in_address == before.in_address - SUI - sent.cost.net
    assert after.in_coins == before.in_coins


@pytest.mark.usefixtures("deposited")
async def test_address_balance_pays_when_the_method_asks_for_it(registry, keys):
    client = registry.nexus.client
    before = await client.balance_parts(keys[0].address)
    builder = TransactionBuilder()
    builder.move_call(SUI_FRAMEWORK, "clock", "timestamp_ms", [builder.object(CLOCK)])
    executed = await client.execute(builder, gas=GasSource.ADDRESS_BALANCE)
    after = await client.balance_parts(keys[0].address)
    assert after.in_address == before.in_address - executed.cost.net
    assert after.in_coins == before.in_coins


async def test_sponsor_pays_for_another_sender(client, chain, keys, define):
    paid, owner = keys
    options = {"sender": str(owner.address), "sponsor": str(paid.address), "gas_budget": SUI // 10}
    async with PysuiRegistry.connect(client, deployment=chain.deployment, **options) as registry:
        await registry.tools.register(define())
        assert await registry.tools.owner(await registry.tools.get(ADD)) == owner.address
        assert await registry.nexus.client.balance(owner.address) == 0


async def test_pysui_reason_is_reported_when_the_sponsor_has_no_sui(client, chain, keys, define):
    paid, poor = keys
    signers = {"sender": str(paid.address), "sponsor": str(poor.address)}
    async with PysuiRegistry.connect(client, deployment=chain.deployment, **signers) as registry:
        with pytest.raises(NexusError) as caught:
            await registry.tools.register(define())
    assert caught.value.code == "pysui_failed"
    assert "No coin" in caught.value.message


# --- Signers


async def test_methods_of_an_owner_fail_for_another_sender(client, registry, added, chain, keys):
    sender = str(keys[1].address)
    async with PysuiRegistry.connect(
        client, deployment=chain.deployment, sender=sender
    ) as strangers:
        with pytest.raises(NotAllowedError) as caught:
            await strangers.tools.unregister(ADD)
    assert caught.value.code == "not_owner"


async def test_missing_key_is_reported(client, chain, define, owner):
    async with PysuiRegistry.connect(
        client, deployment=chain.deployment, sender=str(owner.address)
    ) as registry:
        with pytest.raises(NexusError) as caught:
            await registry.tools.register(define())
    assert caught.value.code == "pysui_failed"


async def test_multisig_signs(client, chain, keys, define):
    config = client.config
    pairs = [config.keypair_for_address(address=str(key.address)) for key in keys]
    multisig = MultiSig(pairs, [1, 1], 2)
    sender = SigningMultiSig(multisig, multisig.public_keys)
    address = Address.parse(multisig.address)
    chain.net.fund(address, 10 * SUI)
    async with PysuiRegistry.connect(
        client, deployment=chain.deployment, sender=sender
    ) as registry:
        await registry.tools.register(define())
        assert await registry.tools.owner(await registry.tools.get(ADD)) == address
