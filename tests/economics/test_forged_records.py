"""The cost of a record that an attacker forges as the owner, leader and requester of a tool."""

import pytest

from nexus_tools.registry import Invocations, Registration
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from tests.economics.test_leader_choice import Market
from tests.retry_policies import QUICK

SUI = 10**9
CALLS = 32


@pytest.fixture
async def forger(parties, define):
    """Return a market without honest leaders, and a function that registers the attacker's tool."""
    leader = await parties.register_leader("stranger", "own")
    market = Market(parties, [], leader)

    async def register(fqn, price_mist):
        tools = parties.tools("stranger")
        definition = define(fqn)
        await tools.register(Registration(definition, price_mist=price_mist, leaders=(leader,)))
        return await tools.get(definition.fqn)

    return market, register


async def test_forged_calls_cost_only_gas_at_any_price(parties, forger, told):
    """A call costs about 0.0002 SUI, because the price and the fee return to the attacker."""
    market, register = forger
    cost_mist = {}
    for number, price_mist in enumerate((1_000_000, SUI // 2)):
        tool = await register(f"xyz.example.own{number}@1", price_mist)
        calls = tool, market.attacker, CALLS, parties.ANSWER
        async with parties.round() as played:
            await market.call(*calls, by="stranger", closer="stranger")
        cost_mist[price_mist] = -played["stranger"] / CALLS
        told(played["stranger"])
    cheap_mist, expensive_mist = cost_mist.values()
    assert expensive_mist == pytest.approx(cheap_mist, rel=0.01)
    assert 150_000 < cheap_mist < 300_000


async def test_forged_requesters_cost_at_least_two_transactions(parties, forger, told):
    """Each new requester sends a request and a deletion, which cost 1 000 gas units each."""
    market, register = forger
    tool = await register("xyz.example.own@1", 1_000_000)
    chain, count = parties.chain, 4
    left_mist = 0
    async with parties.round() as played:
        for number in range(count):
            key = KeyPair.from_bytes(b"\0" + bytes([90 + number] * 32))
            chain.net.fund(key.address, SUI)
            async with SuiClient(chain.net.network, key, retry_policy=QUICK) as client:
                payer = Invocations(client, chain.deployment)
                await market.call_by(payer, tool, market.attacker, 1, parties.ANSWER, "stranger")
                left_mist += await client.balance(key.address)
    cost_mist = (count * SUI - left_mist - played["stranger"]) / count
    told(-cost_mist)
    assert cost_mist > 2_000_000
