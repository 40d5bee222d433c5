"""The example of an exchange that swaps within its own vault, at a constant-product price.

By hand: with pools of 1 000 and 4 000, paying 1 000 yields 4 000 * 1 000 / 2 000 = 2 000. The pools
then have 2 000 each, and another 1 000 yields 2 000 * 1 000 / 3 000 = 666.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.invocation import InvocationFailed
from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, close_call, open_call
from nexus_tools.sui import bcs
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import ToolDefinition
from tests.leader.on_chain.conftest import NUMBER, OBJECT, told, variant

pytestmark = pytest.mark.anyio

EXAMPLES = Path(__file__).parents[3] / "examples"
COIN = "0x2::sui::SUI"


@dataclass
class Exchange:
    """The published package of the example, with vaults of the world's key."""

    world: object
    package: object

    async def open(self):
        builder = TransactionBuilder()
        coins = builder.split_coins(builder.gas, [5_000, 1_000, 4_000])
        builder.move_call(self.package, "exchange", "open", list(coins), [SUI, SUI])
        [vault] = (await self.world.client.execute(builder)).created_of("exchange", "Vault")
        return vault

    async def allow(self, vault, amount, least_per_1000):
        builder = TransactionBuilder()
        numbers = [builder.pure(bcs.u64, number) for number in (amount, least_per_1000)]
        arguments = [builder.object(vault), *numbers]
        builder.move_call(self.package, "exchange", "allow", arguments, [SUI, SUI])
        await self.world.client.execute(builder)


@pytest.fixture
async def exchange(world, linked):
    modules, dependencies = linked(EXAMPLES / "on_chain", world.deployment)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.publish(modules, dependencies)], world.client.address)
    return Exchange(world, (await world.client.execute(builder)).published())


@pytest.fixture
async def vault(exchange):
    return await exchange.open()


@pytest.fixture
async def swap_tool(world, exchange, vault):
    """Return the registered tool for a vault of the world's key."""
    package = exchange.package
    ports = {"vault": {"type": "string"}, "amount": NUMBER, "least": NUMBER}
    document = {
        "fqn": "xyz.example.exchange.swap@1",
        "type": "onchain",
        "url": f"{package}::exchange::swap",
        "input_schema": {**OBJECT, "properties": ports, "required": list(ports)},
        "output_schema": {
            "oneOf": [variant("ok", got=NUMBER), variant("too_dear", offered=NUMBER)]
        },
        "function": {
            "witness": f"{package}::exchange::Swap<{COIN}, {COIN}>",
            "type_arguments": [COIN, COIN],
            "objects": [str(vault)],
        },
    }
    return await world.register_tool(ToolDefinition.parse(document))


@pytest.mark.long
async def test_vault_owner_swaps_up_to_a_price(world, exchange, vault, swap_tool):
    leader = await world.new_leader()
    await exchange.allow(vault, 2_000, 500)
    async with world.running(leader):
        named = {"vault": str(vault)}
        [first] = await world.request(swap_tool, {**named, "amount": 1_000, "least": 2_000})
        [bought] = await world.closed(first)
        [second] = await world.request(swap_tool, {**named, "amount": 1_000, "least": 667})
        [refused] = await world.closed(second)
    assert (bought.state.variant, bought.state.ports.as_json()) == ("ok", {"got": 2_000})
    assert (refused.state.variant, refused.state.ports.as_json()) == ("too_dear", {"offered": 666})


async def test_another_account_cannot_swap(world, exchange, vault, swap_tool):
    leader = await world.new_leader()
    await exchange.allow(vault, 1, 0)
    thief = KeyPair.from_secret(SignatureScheme.ED25519, bytes(range(32)))
    world.localnet.fund(thief.address, 10**10)
    async with world.client_of(thief) as client, world.running(leader):
        invocations = Invocations(client, world.deployment)
        inputs = {"vault": str(vault), "amount": 1, "least": 0}
        _, invocation = await invocations.request(swap_tool, inputs)
        [closed] = await world.closed(invocation)
    assert closed.state.reason == "aborted"
    [failed] = await told(world, InvocationFailed)
    assert "exchange::swap" in failed.detail


@pytest.mark.parametrize(("amount", "least_per_1000"), [(999, 0), (1_000, 2_001)])
async def test_swap_respects_the_limits_of_the_vault_owner(
    world, exchange, vault, swap_tool, amount, least_per_1000
):
    """In another account's workflow, the owner does not choose the inputs."""
    leader = await world.new_leader()
    await exchange.allow(vault, amount, least_per_1000)
    async with world.running(leader):
        inputs = {"vault": str(vault), "amount": 1_000, "least": 0}
        [invocation] = await world.request(swap_tool, inputs)
        [closed] = await world.closed(invocation)
    assert closed.state.reason == "aborted"


@pytest.mark.parametrize("is_other", [False, True])
async def test_leader_cannot_swap_in_another_vault_of_the_owner(
    world, exchange, vault, swap_tool, is_other
):
    leader = await world.new_leader()
    other = await exchange.open() if is_other else vault
    await exchange.allow(other, 1_000, 0)
    inputs = {"vault": str(vault), "amount": 1_000, "least": 0}
    [invocation] = await world.request(swap_tool, inputs)
    async with world.client_of(leader.key) as client:
        builder = TransactionBuilder()
        call = open_call(builder, world.deployment, invocation, swap_tool.id, None)
        arguments = [call, builder.object(other)]
        builder.move_call(exchange.package, "exchange", "swap", arguments, [SUI, SUI])
        close_call(builder, world.deployment, call, invocation, leader.id)
        package = PackageClient(client, world.deployment)
        if not is_other:
            await package.send(builder)
            return
        with pytest.raises(NexusError):
            await package.send(builder)
