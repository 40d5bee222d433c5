"""The example that swaps within its own vault, at the price of a constant product.

By hand: of pools with 1 000 and 4 000, 1 000 more bring 4 000 * 1 000 / 2 000 = 2 000. Then there
are 2 000 and 2 000, and 1 000 more would bring 2 000 * 1 000 / 3 000 = 666.
"""

from pathlib import Path

import pytest

from nexus_tools.client import KeyPair
from nexus_tools.package.move.invocation import InvocationFailed
from nexus_tools.registry import Invocations
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.type_tag import SUI
from nexus_tools.tool import ToolDefinition
from tests.leader.on_chain.conftest import NUMBER, OBJECT, told, variant

pytestmark = pytest.mark.anyio

EXAMPLES = Path(__file__).parents[3] / "examples"
COIN = "0x2::sui::SUI"


@pytest.fixture
async def swapping(world, linked):
    """The registered tool, for a vault of the world's key."""
    modules, dependencies = linked(EXAMPLES / "on_chain", world.deployment)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.publish(modules, dependencies)], world.client.address)
    package = (await world.client.execute(builder)).published()
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [5_000, 1_000, 4_000])
    builder.move_call(package, "exchange", "open", list(coins), [SUI, SUI])
    [vault] = (await world.client.execute(builder)).created_of("exchange", "Vault")
    ports = {"amount": NUMBER, "least": NUMBER}
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


async def test_the_owner_of_a_vault_swaps_within_it_up_to_a_price(world, swapping):
    leader = await world.new_leader()
    async with world.running(leader):
        [first] = await world.request(swapping, {"amount": 1_000, "least": 2_000})
        [bought] = await world.closed(first)
        [second] = await world.request(swapping, {"amount": 1_000, "least": 667})
        [refused] = await world.closed(second)
    assert (bought.state.variant, bought.state.ports.as_json()) == ("ok", {"got": 2_000})
    assert (refused.state.variant, refused.state.ports.as_json()) == ("too_dear", {"offered": 666})


async def test_nobody_else_swaps_within_it(world, swapping):
    leader = await world.new_leader()
    thief = KeyPair.from_secret(SignatureScheme.ED25519, bytes(range(32)))
    world.localnet.fund(thief.address, 10**10)
    async with world.client_of(thief) as client, world.running(leader):
        invocations = Invocations(client, world.deployment)
        _, invocation = await invocations.request(swapping, {"amount": 1, "least": 0})
        [closed] = await world.closed(invocation)
    assert closed.state.reason == "aborted"
    [failed] = await told(world, InvocationFailed)
    assert "exchange::swap" in failed.detail
