from pathlib import Path

import pytest
from msgspec.structs import astuple, replace

from nexus_tools.contracts.move_bindings import fqn as fqn_calls
from nexus_tools.contracts.move_bindings import tool_registry as registry_calls
from nexus_tools.contracts.move_bindings.tool_registry import ToolSettingsChanged
from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    WrongStateError,
)
from nexus_tools.sui.bcs import u64
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.client.transactions.resolution import ObjectCache, resolve
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, MOVE_STDLIB, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, Immutable, ObjectReference
from nexus_tools.sui.types.transaction import OwnedObject, ReceivingObject
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI

LANGUAGE = Path(__file__).parents[2] / "conformance" / "vm" / "language" / "bytecode"
SUI_MIST = 1_000_000_000
CAROL = Address.of(0xCA401)


@pytest.fixture
def language(publish):
    """Publish a package whose module `calls` has errors with and without a number."""
    return publish([(LANGUAGE / "calls.mv").read_bytes()], [MOVE_STDLIB]).id


def pay(amount, recipient=CAROL):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], recipient)
    return builder


# --- Success


async def test_payment_moves_exactly_the_amount_and_the_cost(bob, chain):
    before = await bob.balance(chain.bob.address)
    executed = await bob.execute(pay(5 * SUI_MIST))
    assert await bob.balance(CAROL) == 5 * SUI_MIST
    assert await bob.balance(chain.bob.address) == before - 5 * SUI_MIST - executed.cost.net


async def test_created_objects_have_type_and_owner(bob):
    executed = await bob.execute(pay(1))
    [created] = executed.created()
    assert (created.type, created.owner) == (GAS_COIN, AddressOwner(CAROL))
    assert executed.created_of("coin", "Coin") == (created.object_id,)


async def test_executed_transaction_is_found_by_its_digest(bob):
    executed = await bob.execute(pay(1))
    found = await bob.transaction(executed.digest)
    assert (found.effects, found.events) == (executed.effects, executed.events)
    assert found.checkpoint is not None
    assert found.timestamp_ms is not None


async def test_events_are_decoded(alice, chain):
    builder = TransactionBuilder()
    registry_calls.configure(builder, *chain.administered, *astuple(await _settings(alice, chain)))
    [event] = (await alice.execute(builder)).events
    assert event.type == chain.deployment.type_of(ToolSettingsChanged)


async def _settings(client, chain):
    from nexus_tools.registry import ToolRegistry

    return await ToolRegistry(client, chain.deployment).settings()


async def test_consecutive_transactions_only_simulate_and_execute(bob, calls):
    await bob.execute(pay(1))
    calls.clear()
    for _ in range(5):
        await bob.execute(pay(1))
    assert calls == {"SimulateTransaction": 5, "ExecuteTransaction": 5}


async def test_budget_skips_the_simulation(bob, calls):
    await bob.execute(pay(1), budget=5_000_000)
    calls.clear()
    await bob.execute(pay(1), budget=5_000_000)
    assert calls == {"ExecuteTransaction": 1}


async def test_owned_object_is_reused_without_reading_it(alice, chain, calls):
    await alice.execute(chain.using_cap())
    calls.clear()
    await alice.execute(chain.using_cap())
    assert calls == {"SimulateTransaction": 1, "ExecuteTransaction": 1}


async def test_shared_object_is_read_only_once(bob, chain, calls):
    await bob.execute(pay(1))
    await bob.object(chain.deployment.tool_registry)
    calls.clear()
    builder = TransactionBuilder()
    builder.object(chain.deployment.tool_registry, mutable=False)
    await bob.execute(builder)
    assert calls == {"SimulateTransaction": 1, "ExecuteTransaction": 1}


async def test_clock_is_used_without_reading_it(bob, calls):
    await bob.execute(pay(1))
    calls.clear()
    builder = TransactionBuilder()
    clock = builder.object(CLOCK, mutable=False)
    builder.move_call(SUI_FRAMEWORK, "clock", "timestamp_ms", [clock])
    await bob.execute(builder)
    assert calls == {"SimulateTransaction": 1, "ExecuteTransaction": 1}


async def test_object_read_before_a_transfer_is_used_by_its_new_owner(alice, bob):
    def give(object_id, recipient):
        builder = TransactionBuilder()
        builder.transfer_objects([builder.object(object_id)], recipient)
        return builder

    [coin] = (await alice.execute(pay(1, alice.address))).created_of("coin", "Coin")
    assert (await bob.object(coin)).owner == AddressOwner(alice.address)
    await alice.execute(give(coin, bob.address))
    await bob.execute(give(coin, CAROL))
    assert (await bob.object(coin)).owner == AddressOwner(CAROL)


async def test_many_small_coins_pay_together(chain):
    poor = KeyPair.from_bytes(b"\0" + bytes([9] * 32))
    for _ in range(30):
        chain.net.fund(poor.address, SUI_MIST // 100)
    async with chain.client(poor) as client:
        executed = await client.execute(pay(SUI_MIST // 5))
        [left] = await client.coins(poor.address)
    assert left.balance == 30 * SUI_MIST // 100 - SUI_MIST // 5 - executed.cost.net


async def test_frozen_object_is_read_by_anyone(alice, bob):
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [42])[0]
    freeze = [coin]
    builder.move_call(
        SUI_FRAMEWORK, "transfer", "public_freeze_object", freeze, type_arguments=(GAS_COIN,)
    )
    [created] = (await alice.execute(builder)).created()
    assert created.owner == Immutable()
    reading = TransactionBuilder()
    frozen = reading.object(created.object_id, mutable=False)
    reading.move_call(SUI_FRAMEWORK, "coin", "value", [frozen], type_arguments=(SUI,))
    simulated = await bob.simulate(reading)
    assert simulated.results == ((u64.encode(42),),)
    await bob.execute(reading)


async def test_object_sent_to_another_input_is_received():
    parent, child = Address.of(1), Address.of(2)
    known = ObjectCache()
    sender = Address.of(9)
    references = {
        object_id: ObjectReference(object_id, 3, Digest(bytes(32))) for object_id in (parent, child)
    }
    known.add(AddressOwner(sender), references[parent])
    known.add(AddressOwner(parent), references[child])
    builder = TransactionBuilder()
    builder.object(parent)
    builder.object(child)
    resolved = await resolve(None, known, builder, sender)
    assert resolved == {
        parent: OwnedObject(references[parent]),
        child: ReceivingObject(references[child]),
    }


# --- Simulation


async def test_simulation_changes_nothing(bob, chain):
    before = await bob.balance(chain.bob.address)
    simulated = await bob.simulate(pay(5 * SUI_MIST))
    assert simulated.cost.net > 0
    assert await bob.balance(chain.bob.address) == before
    assert await bob.balance(CAROL) == 0


async def test_inspection_needs_neither_key_nor_coins(chain):
    builder = TransactionBuilder()
    fqn_calls.is_valid(builder, chain.deployment.package, "xyz.example.add@1")
    fqn_calls.is_valid(builder, chain.deployment.package, "xyz.example.add@01")
    async with chain.client() as client:
        assert (await client.inspect(builder)).results == ((b"\x01",), (b"\x00",))


async def test_object_of_another_account_can_be_inspected(bob, chain):
    [coin] = await bob.coins(chain.bob.address)
    builder = TransactionBuilder()
    theirs = builder.object(coin.reference.object_id, mutable=False)
    builder.move_call(SUI_FRAMEWORK, "coin", "value", [theirs], type_arguments=(SUI,))
    async with chain.client(chain.alice) as client:
        assert (await client.inspect(builder)).results == ((u64.encode(coin.balance),),)


async def test_client_without_key_sends_nothing(chain):
    async with chain.client() as client:
        with pytest.raises(NotAllowedError) as caught:
            await client.execute(pay(1))
    assert caught.value.code == "signer_missing"


# --- Failure


def failing(amount_of_coin=1):
    """Return a transaction that splits more from a coin than it has."""
    builder = TransactionBuilder()
    coin = builder.split_coins(builder.gas, [amount_of_coin])[0]
    more = builder.split_coins(coin, [amount_of_coin + 1])[0]
    builder.transfer_objects([coin, more], CAROL)
    return builder


async def test_failing_transaction_is_never_signed(bob, chain, calls):
    before = await bob.balance(chain.bob.address)
    with pytest.raises(RefusedOnChainError) as caught:
        await bob.execute(failing())
    assert caught.value.code == "insufficient_coin_balance"
    assert caught.value.details["command"] == 1
    assert calls["ExecuteTransaction"] == 0
    assert await bob.balance(chain.bob.address) == before


async def test_failed_simulation_keeps_the_cache(bob, calls):
    with pytest.raises(RefusedOnChainError):
        await bob.execute(failing())
    calls.clear()
    await bob.execute(pay(1))
    assert calls == {"SimulateTransaction": 1, "ExecuteTransaction": 1}


async def test_transaction_that_fails_on_chain_costs_gas_and_is_reported(bob, chain):
    before = await bob.balance(chain.bob.address)
    with pytest.raises(RefusedOnChainError) as caught:
        await bob.execute(failing(), budget=10_000_000)
    executed = await bob.transaction(Digest.parse(caught.value.details["digest"]))
    assert await bob.balance(chain.bob.address) == before - executed.cost.net
    await bob.execute(pay(1))  # the cache has the new version of the gas coin


async def test_abort_reports_location_and_number(alice, chain):
    builder = TransactionBuilder()
    registry_calls.migrate(builder, *chain.administered)
    with pytest.raises(RefusedOnChainError) as caught:
        await alice.execute(builder)
    assert caught.value.code == "move_abort"
    assert caught.value.details | {"command": 0} == {
        "command": 0,
        "package": str(chain.deployment.original_id),
        "module": "version",
        "function": "migrate",
        "abort": 1,
        "abort_code": 1,
    }


async def _abort_of(client, package, number, **options):
    builder = TransactionBuilder()
    builder.move_call(package, "calls", "clever", [builder.pure(u64, number)])
    with pytest.raises(RefusedOnChainError) as caught:
        await client.execute(builder, **options)
    return caught.value


def _told(error, *names):
    return {name: error.details.get(name) for name in ("constant", "value", "line", *names)}


async def test_error_with_a_text_reports_name_message_and_line(bob, language):
    error = await _abort_of(bob, language, 3)
    assert error.message.endswith("::calls::clever aborts with TooSmall in line 43: too small")
    assert _told(error) == {"constant": "TooSmall", "value": "too small", "line": 43}
    assert error.details["abort"] == error.details["abort_code"]
    assert error.details["abort"] >> 32 == 0xC0FF_0000 | 43  # an error without a number, line 43


async def test_error_with_a_number_also_reports_the_number(bob, language):
    error = await _abort_of(bob, language, 2_000)
    told = {"constant": "TooLarge", "value": "too large", "line": 44, "abort": 7}
    assert _told(error, "abort") == told


async def test_assertion_without_an_error_reports_its_line(bob, language):
    error = await _abort_of(bob, language, 77)
    assert error.message.endswith("::calls::clever aborts in line 45")
    assert _told(error) == {"constant": None, "value": None, "line": 45}


async def test_execution_and_simulation_report_equal_errors(bob, language):
    error = await _abort_of(bob, language, 2_000, budget=10_000_000)
    assert "digest" in error.details
    assert _told(error, "abort") == _told(await _abort_of(bob, language, 2_000), "abort")


async def test_shortage_is_detected_before_sending(bob, calls):
    with pytest.raises(WrongStateError) as caught:
        await bob.execute(pay(2_000 * SUI_MIST))
    assert caught.value.code == "not_enough_sui"
    assert "ExecuteTransaction" not in calls


async def test_shortage_hint_names_the_faucet_or_amount_and_address(chain, bob):
    lacking = pay(await bob.balance(bob.address) + 361_200_001)
    for faucet in (chain.network.url, None):
        network = replace(chain.network, faucet_url=faucet)
        async with SuiClient(network, chain.bob) as client:
            with pytest.raises(WrongStateError) as caught:
                await client.execute(lacking)
        mist = caught.value.details["lacking_mist"]
        assert mist >= 361_200_001
        said = f"{mist // 10**9}.{mist % 10**9:09d}".rstrip("0")
        sends = (
            f"Send {said} SUI or more to {bob.address}, for example with `nexus_tools.sui.client"
        )
        expected = sends if faucet else f"Send {said} SUI or more to {bob.address} on "
        assert expected in caught.value.hint


async def test_object_of_another_account_is_refused(bob, chain):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.object(chain.deployment.upgrade_cap)], CAROL)
    with pytest.raises(NotAllowedError) as caught:
        await bob.execute(builder)
    assert caught.value.code == "object_not_owned"
    assert str(chain.alice.address) in caught.value.message


async def test_missing_object_is_named_in_the_error(bob):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.object(Address.of(0xBAD))], CAROL)
    with pytest.raises(NotFoundError) as caught:
        await bob.execute(builder)
    assert caught.value.code == "object_unknown"
