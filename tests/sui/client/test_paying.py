"""Payments by coins, the address balance, or both, on a real node."""

import asyncio

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from nexus_tools.contracts import Publisher
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import (
    Balance,
    GasSource,
    RetryPolicy,
    SuiClient,
    explain_refusals,
    failure_gas_mist,
)
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import is_coin_reservation, reserved_amount
from nexus_tools.sui.types.digest import transaction_digest
from nexus_tools.sui.types.expiration import NoExpiration, ValidDuring
from nexus_tools.sui.types.transaction import TRANSACTION_DATA
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import Answer

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)
MIST = 1_000_000_000
CAROL = Address.of(0xCA401)
# 1 000 units of 1 000 MIST; a coin of 130 bytes at 7 600 MIST, of which 99 % come back
COMPUTATION, COIN, REBATE = 1_000_000, 988_000, 978_120
BUDGET = 5_000_000


def pay(amount, recipient=CAROL):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], recipient)
    return builder


def give_all(recipient=CAROL):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.gas], recipient)
    return builder


def read_clock():
    """Return a transaction that only needs gas, without an owned object or a coin."""
    builder = TransactionBuilder()
    clock = builder.object(Address.of(6), mutable=False)
    builder.move_call(SUI_FRAMEWORK, "clock", "timestamp_ms", [clock])
    return builder


def withdraw(amount, recipient=CAROL):
    builder = TransactionBuilder()
    money = builder.withdrawal(amount, SUI)
    coin = builder.move_call(SUI_FRAMEWORK, "coin", "redeem_funds", [money], (SUI,))
    builder.transfer_objects([coin], recipient)
    return builder


@pytest.fixture
async def client(localnet):
    """Open a client of a new key without funds."""
    async with SuiClient(localnet.network, KeyPair.new(), retry_policy=QUICK) as client:
        yield client


@pytest.fixture
def give(localnet, another_wallet):
    """Send an address coins, and funds in its address balance."""
    giver = another_wallet

    def give(recipient, *coins, balance=0):
        if coins:
            localnet.fund(recipient, *coins)
        if balance:
            builder = TransactionBuilder()
            builder.deposit(builder.split_coins(builder.gas, [balance])[0], recipient, SUI)
            localnet.run(giver.client.execute(builder))

    return give


@pytest.fixture
def another_wallet(wallet):
    return wallet.another()


async def code_of(awaitable):
    with pytest.raises(NexusError) as caught:
        await awaitable
    return caught.value.code


def reserved_in(data):
    return [
        reserved_amount(reference)
        for reference in data.gas.payment
        if is_coin_reservation(reference)
    ]


# --- Coins first, and the address balance for what they lack


async def test_address_balance_pays_the_remainder_of_coins(client, give):
    give(client.address, MIST, balance=MIST)
    executed = await client.execute(pay(MIST * 3 // 2))
    assert executed.cost.net == COMPUTATION + 2 * COIN - REBATE
    assert await client.balance(CAROL) == MIST * 3 // 2
    parts = await client.balance_parts(client.address)
    assert parts.total == MIST // 2 - executed.cost.net
    # The budget includes a margin of a thousand units, which are in the coin now.
    assert parts.in_coins == COMPUTATION


async def test_wallet_without_a_coin_pays_for_everything(client, give):
    give(client.address, balance=MIST)
    for amount in (1, 1, 2):
        await client.execute(pay(amount))
    await client.execute(pay(4), budget=BUDGET)
    assert await client.balance(CAROL) == 8
    parts = await client.balance_parts(client.address)
    assert parts == Balance(0, MIST - 8 - 4 * (COMPUTATION + COIN))


async def test_parallel_payments_of_several_programs_all_succeed(client, give):
    give(client.address, MIST, MIST // 4, balance=MIST)
    for _ in range(4):
        await client.execute(pay(MIST // 2))
    assert await client.balance(CAROL) == 2 * MIST


async def test_two_equal_payments_both_execute(client, give):
    give(client.address, balance=MIST)
    digests = {(await client.execute(pay(1), budget=BUDGET)).digest for _ in range(3)}
    assert len(digests) == 3
    assert await client.balance(CAROL) == 3


async def test_transferred_gas_coin_contains_all_funds(client, give):
    give(client.address, 20 * MIST, MIST, balance=MIST)
    executed = await client.execute(give_all())
    assert await client.balance(client.address) == 0
    assert await client.balance(CAROL) == 22 * MIST - executed.cost.net


async def test_wallet_without_a_coin_transfers_all_its_funds(client, give):
    give(client.address, balance=MIST)
    executed = await client.execute(give_all())
    assert await client.balance(client.address) == 0
    assert await client.balance(CAROL) == MIST - executed.cost.net


async def test_withdrawals_of_commands_are_not_reserved_for_gas(client, give):
    give(client.address, balance=MIST)
    await client.execute(withdraw(MIST - 3 * COMPUTATION))
    assert await client.balance(CAROL) == MIST - 3 * COMPUTATION


async def test_transaction_with_both_sources_can_be_signed_by_others(client, give):
    give(client.address, MIST, balance=MIST)
    data = await client.build(pay(MIST * 3 // 2))
    built = TRANSACTION_DATA.decode(data)
    assert reserved_in(built) == [MIST // 2 + built.gas.budget]
    assert isinstance(built.expiration, ValidDuring)
    await client.execute_transaction(data)
    await client.execute(pay(1))
    assert await client.balance(CAROL) == MIST * 3 // 2 + 1


async def test_shortage_of_both_sources_is_reported_before_signing(client, give):
    give(client.address, MIST, balance=MIST)
    with pytest.raises(NexusError) as caught:
        await client.execute(pay(2 * MIST))
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["available_mist"] == 2 * MIST
    assert await client.balance(client.address) == 2 * MIST


async def test_failed_transaction_costs_only_gas(client, give):
    give(client.address, MIST // 1000, balance=MIST)
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [1])[0]
    builder.transfer_objects([coin, builder.split_coins(coin, [2])[0]], CAROL)
    with pytest.raises(RefusedOnChainError) as failed:
        await client.execute(builder, budget=BUDGET)
    assert failed.value.code == "insufficient_coin_balance"
    lost = MIST + MIST // 1000 - await client.balance(client.address)
    assert COMPUTATION <= lost < BUDGET
    assert failure_gas_mist(failed.value) == lost
    await client.execute(pay(1), budget=BUDGET)
    assert await client.balance(CAROL) == 1


async def test_balance_spent_by_another_program_is_read_again(client, give):
    give(client.address, balance=MIST)
    await client.execute(pay(1))
    async with SuiClient(client.network, client._signer, retry_policy=QUICK) as other:
        await other.execute(pay(MIST // 2))
    await client.execute(pay(MIST // 4))
    await client.execute(pay(1), budget=MIST // 100)
    assert await code_of(client.execute(pay(MIST // 2))) == "not_enough_sui"


async def test_epoch_is_read_again_after_some_epochs(client, give, localnet):
    give(client.address, balance=MIST)
    await client.execute(pay(1))
    for _ in range(3):
        localnet.advance_epoch()
    await client.execute(pay(1))
    assert await client.balance(CAROL) == 2


async def test_wallet_without_a_coin_publishes_registers_and_requests(client, give, define):
    give(client.address, balance=50 * MIST)
    deployment = (await Publisher(client).publish()).deployment
    leaders = LeaderRegistry(client, deployment)
    tools, invocations = ToolRegistry(client, deployment), Invocations(client, deployment)
    _, leader = await leaders.register("lee", activate=True)
    fqn = "xyz.example.math.add@1"
    await tools.register(Registration(define(fqn), price_mist=MIST // 10, leaders=(leader,)))
    tool = await tools.get(fqn)
    _, invocation = await invocations.request(tool, {"a": 2, "b": 40})
    await invocations.close(leader, {invocation: Answer("ok", {"result": 42})})
    await invocations.delete(invocation)
    await tools.unregister(fqn)
    parts = await client.balance_parts(client.address)
    assert parts.in_coins == 0
    assert 50 * MIST - (await leaders.get(leader)).collateral.balance_mist > parts.in_address > 0


# --- Number of calls


async def test_address_balance_is_not_read_when_coins_suffice(client, give, calls):
    give(client.address, MIST, balance=MIST)
    calls.clear()
    await client.execute(pay(1))
    assert calls == {
        "GetEpoch": 1,
        "ListOwnedObjects": 1,
        "SimulateTransaction": 1,
        "ExecuteTransaction": 1,
    }
    calls.clear()
    await client.execute(pay(1))
    assert calls == {"SimulateTransaction": 1, "ExecuteTransaction": 1}
    assert reserved_in(TRANSACTION_DATA.decode(await client.build(pay(1)))) == []


async def test_only_the_first_transaction_without_coins_needs_more_calls(client, give, calls):
    give(client.address, balance=MIST)
    calls.clear()
    await client.execute(pay(1))
    assert calls == {
        "GetEpoch": 1,
        "ListOwnedObjects": 1,
        "GetBalance": 1,
        "GetServiceInfo": 1,
        "SimulateTransaction": 1,
        "ExecuteTransaction": 1,
    }
    calls.clear()
    await client.execute(pay(1))
    assert calls == {"SimulateTransaction": 1, "ExecuteTransaction": 1}


async def test_sufficient_coins_pay_alone(client, give):
    give(client.address, MIST, balance=MIST)
    built = TRANSACTION_DATA.decode(await client.build(pay(1)))
    assert built.expiration == NoExpiration()
    assert len(built.gas.payment) == 1


# --- Only the address balance


async def test_gas_from_the_address_balance_leaves_the_coins_untouched(client, give):
    give(client.address, MIST, balance=MIST)
    executed = await client.execute(read_clock(), gas=GasSource.ADDRESS_BALANCE)
    assert executed.effects.gas_object_index is None
    assert executed.effects.address_balance_change(client.address, SUI) == -executed.cost.net
    parts = await client.balance_parts(client.address)
    assert parts == Balance(MIST, MIST - COMPUTATION)


async def test_transaction_is_valid_for_two_epochs_on_one_chain(client, give, localnet):
    give(client.address, balance=MIST)
    localnet.advance_epoch()
    source = GasSource.ADDRESS_BALANCE
    data = await client.build(read_clock(), budget=BUDGET, gas=source)
    built = TRANSACTION_DATA.decode(data)
    assert built.gas.payment == ()
    assert (built.expiration.min_epoch, built.expiration.max_epoch) == (1, 2)
    assert str(built.expiration.chain) == await client.chain_id()
    localnet.advance_epoch()
    await client.execute_transaction(data)
    late = await client.build(read_clock(), budget=BUDGET, gas=source)
    for _ in range(2):
        localnet.advance_epoch()
    with pytest.raises(RefusedOnChainError, match="Expired"):
        await client.execute_transaction(late)


async def test_any_number_of_transactions_run_in_parallel(client, give):
    count = 40
    give(client.address, balance=count * BUDGET)
    source = GasSource.ADDRESS_BALANCE
    done = await asyncio.gather(
        *(client.execute(read_clock(), budget=BUDGET, gas=source) for _ in range(count))
    )
    assert len({executed.digest for executed in done}) == count
    assert await client.balance(client.address) == count * (BUDGET - COMPUTATION)


async def test_transactions_wait_when_they_exceed_the_balance(client, give):
    give(client.address, balance=2 * BUDGET)
    source = GasSource.ADDRESS_BALANCE
    await asyncio.gather(
        *(client.execute(read_clock(), budget=BUDGET, gas=source) for _ in range(6))
    )
    assert await client.balance(client.address) == 2 * BUDGET - 6 * COMPUTATION


async def test_equal_transactions_have_different_digests(client, give):
    give(client.address, MIST, balance=MIST)

    async def digest(of, source):
        data = await of.build(read_clock(), budget=BUDGET, gas=source)
        return TRANSACTION_DATA.decode(data).digest()

    for source in GasSource:
        mine = [await digest(client, source) for _ in range(50)]
        async with SuiClient(client.network, client._signer) as restarted:
            later = [await digest(restarted, source) for _ in range(50)]
        assert len({*mine, *later}) == 100


async def test_later_transactions_need_one_call(client, give, calls):
    give(client.address, balance=MIST)
    source = GasSource.ADDRESS_BALANCE
    await client.execute(read_clock(), budget=BUDGET, gas=source)
    calls.clear()
    for _ in range(3):
        await client.execute(read_clock(), budget=BUDGET, gas=source)
    assert calls == {"ExecuteTransaction": 3}


async def test_address_balance_refuses_use_of_the_gas_coin(client, give):
    give(client.address, balance=MIST)
    source = GasSource.ADDRESS_BALANCE
    assert await code_of(client.execute(pay(1), gas=source)) == "gas_coin_unavailable"
    await client.execute(withdraw(7), gas=source)
    assert await client.balance(CAROL) == 7


async def test_coins_do_not_help_when_only_the_address_balance_pays(client, give):
    give(client.address, MIST, balance=BUDGET - 1)
    with pytest.raises(NexusError) as caught:
        await client.execute(read_clock(), budget=BUDGET, gas=GasSource.ADDRESS_BALANCE)
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["lacking_mist"] == 1
    deposit = f"Deposit 0.000000001 SUI or more in the address balance of {client.address}"
    assert deposit in caught.value.hint


async def test_decreased_balance_is_reported(client, give):
    give(client.address, balance=2 * BUDGET)
    source = GasSource.ADDRESS_BALANCE
    await client.execute(read_clock(), budget=BUDGET, gas=source)
    async with SuiClient(client.network, client._signer, retry_policy=QUICK) as other:
        await other.execute(withdraw(BUDGET), gas=source)
    # Until its epochs end, the first transaction can be executed if the balance grows again.
    with pytest.raises(UnreachableError, match="the wallet's address balance has") as caught:
        await client.execute(read_clock(), budget=BUDGET, gas=source)
    assert failure_gas_mist(caught.value) is None


# --- Lost answers


@pytest.fixture
async def gateway(localnet):
    async with Gateway(localnet.url).running() as gateway:
        yield gateway


@pytest.fixture
async def signed(client, give):
    """Return a signed, unsent transaction that the address balance pays for."""
    give(client.address, balance=MIST)
    data = await client.build(withdraw(7), budget=BUDGET, gas=GasSource.ADDRESS_BALANCE)
    return data, client._signer.sign(data)


async def test_same_bytes_are_executed_once(client, signed):
    data, signature = signed
    sent = await asyncio.gather(*(client.execute_transaction(data, [signature]) for _ in range(5)))
    assert {executed.effects for executed in sent} == {sent[0].effects}
    assert await client.balance(CAROL) == 7


async def test_same_bytes_can_be_resent_after_a_lost_answer(client, signed, gateway):
    data, signature = signed
    gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, late=True)
    async with SuiClient(gateway.network, retry_policy=QUICK) as distant:
        with pytest.raises(UnreachableError):
            await distant.execute_transaction(data, [signature])
        gateway.mend("ExecuteTransaction")
        found = await distant.transaction(transaction_digest(data))
        again = await distant.execute_transaction(data, [signature])
    assert found.effects == again.effects
    assert await client.balance(CAROL) == 7


async def test_executed_transaction_is_found_after_it_expired(client, signed, localnet):
    data, signature = signed
    first = await client.execute_transaction(data, [signature])
    for _ in range(3):
        localnet.advance_epoch()
    again = await client.execute_transaction(data, [signature])
    assert again.effects == first.effects
    assert (await client.transaction(transaction_digest(data))).effects == first.effects
    assert await client.balance(CAROL) == 7


async def test_client_assumes_the_worst_after_an_unknown_outcome(client, give, gateway):
    give(client.address, balance=2 * BUDGET)
    source = GasSource.ADDRESS_BALANCE
    async with SuiClient(gateway.network, client._signer, retry_policy=QUICK) as distant:
        gateway.fail("ExecuteTransaction", StatusCode.UNAVAILABLE, late=True)
        with pytest.raises(UnreachableError):
            await distant.execute(withdraw(BUDGET), budget=BUDGET, gas=source)
        gateway.mend("ExecuteTransaction")
        failing = distant.execute(read_clock(), budget=BUDGET, gas=source)
        assert await code_of(failing) == "not_enough_sui"
    assert await client.balance(client.address) == BUDGET - COMPUTATION - COIN


# --- A chain without address balances


@pytest.fixture
def without_address_balances(localnet, monkeypatch):
    """Make a node report, as mainnet did before protocol 124, that the feature is off."""
    features = "nexus_tools.sui.localnet.rpc.rendering.epoch.ENABLED_FEATURES"
    monkeypatch.setattr(features, frozenset())


@pytest.mark.usefixtures("without_address_balances")
async def test_gas_from_the_address_balance_is_refused_when_unsupported(client, give):
    give(client.address, MIST)
    with pytest.raises(NexusError) as caught:
        await client.execute(read_clock(), budget=BUDGET, gas=GasSource.ADDRESS_BALANCE)
    assert caught.value.code == "address_balances_unsupported"
    assert caught.value.details == {"protocol_version": 105}
    assert "version 105" in caught.value.message
    assert caught.value.hint


async def aborting(client, module):
    """Make a deposit fail with an abort of the framework, as `raise_for_status` reports it."""
    details = {"package": str(SUI_FRAMEWORK), "module": module, "function": "add_impl"}
    async with explain_refusals(client.connection, ()):
        raise RefusedOnChainError("move_abort", "it aborts", details=details)


@pytest.mark.usefixtures("without_address_balances")
async def test_deposit_error_is_explained_when_unsupported(client):
    assert await code_of(aborting(client, "funds_accumulator")) == "address_balances_unsupported"
    assert await code_of(aborting(client, "coin")) == "move_abort"


async def test_abort_is_reported_when_address_balances_are_supported(client):
    assert await code_of(aborting(client, "funds_accumulator")) == "move_abort"
