"""Attacks by a leader that wants to be chosen: a bought record, or others without a record."""

from collections import Counter
from random import Random

import pytest

from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.registry import (
    Invocations,
    Registration,
    add_request,
    choose_leaders,
    quote_mist,
    read_histories,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Failure, FailureReason
from tests.retry_policies import QUICK

SUI = 10**9
HONEST = ("first", "second", "third")
FLOOD = 249
DRAWS = 10_000
OUTCOME_BYTES = 100


class Market:
    """Three honest leaders with a record, and an attacker's leader without one."""

    def __init__(self, parties, honest, attacker):
        self.parties, self.honest, self.attacker = parties, honest, attacker

    async def call(self, tool, leader, count, outcome, *, by, closer):
        """Request some invocations of a leader, and let it close them."""
        requester, closing = self.parties.invocations(by), self.parties.invocations(closer)
        settings = await self.parties.leaders(by).settings()
        gas_price = await requester.client.gas_price()
        ports = ports_of(self.parties.INPUTS)
        cost_mist = quote_mist(settings, tool, ports.size(), OUTCOME_BYTES, gas_price)
        for start in range(0, count, 32):
            builder, deployment = TransactionBuilder(), requester.deployment
            for _ in range(min(32, count - start)):
                add_request(
                    builder,
                    deployment,
                    settings,
                    tool,
                    [leader],
                    inputs=ports,
                    max_outcome_bytes=OUTCOME_BYTES,
                    payment_mist=cost_mist,
                )
            sent = await requester.send(builder)
            places = sent.created_of("invocation", "Invocation")
            await closing.close(leader, dict.fromkeys(places, outcome))
            await requester.delete(*places)

    async def share(self):
        """Return how often a caller without preferences names the attacker's leader first."""
        key = KeyPair.from_bytes(b"\0" + bytes([78] * 32))
        chain = self.parties.chain
        async with SuiClient(chain.net.network, key, retry_policy=QUICK) as client:
            caller = Invocations(client, chain.deployment)
            histories = await read_histories(caller)
            leaders = await caller.find_all([*self.honest, self.attacker], Leader)
        random = Random(11)
        first = Counter(choose_leaders(leaders, histories, random)[0] for _ in range(DRAWS))
        return first[self.attacker] / DRAWS, histories

    async def own_tool(self, fqn):
        """Register a free tool of the attacker that is open to all leaders."""
        tools = self.parties.tools("stranger")
        definition = self.parties.define(fqn)
        await tools.register(Registration(definition, price_mist=0))
        return await tools.get(definition.fqn)


@pytest.fixture
async def market(parties, define):
    parties.define = define
    honest = [await parties.register_leader("leader", name) for name in HONEST]
    market = Market(parties, honest, await parties.register_leader("stranger", "unknown"))
    for number in range(4):
        tool = await parties.register_tool(define(f"xyz.example.tool{number}@1"), price_mist=0)
        for leader in honest:
            await market.call(tool, leader, 1, parties.ANSWER, by="user", closer="leader")
    return market


def visible(histories, market):
    return all(histories.records[leader].settled == 4 for leader in market.honest)


async def test_leader_cannot_erase_the_records_of_others_by_a_dead_tool(market, parties, told):
    """249 calls of an unreachable tool, divided among three honest leaders."""
    before, _ = await market.share()
    dead = await market.own_tool("xyz.example.dead@1")
    async with parties.round() as played:
        for leader in market.honest:
            failure = Failure(FailureReason.UNREACHABLE, "")
            await market.call(dead, leader, FLOOD // 3, failure, by="stranger", closer="leader")
    after, histories = await market.share()
    assert after == before <= 0.25
    assert visible(histories, market)
    assert -SUI < played["stranger"] < 0
    assert played["leader"] >= 0
    told(played["stranger"])


async def test_leader_cannot_become_first_by_its_own_calls(market, parties, told):
    """As many calls of its own tool, which its leader settles with an invented answer."""
    own = await market.own_tool("xyz.example.own@1")
    async with parties.round() as played:
        await market.call(
            own, market.attacker, FLOOD, parties.ANSWER, by="stranger", closer="stranger"
        )
    after, histories = await market.share()
    assert after <= 0.25
    assert histories.records[market.attacker].settled == 1
    told(played["stranger"])


async def make_others_refuse(market, count):
    """Make leaders refuse tools with URLs of private networks, for two requesters each.

    The attacker's leader settles the same tools with invented answers.
    """
    answer, refusal = market.parties.ANSWER, Failure(FailureReason.REFUSED, "")
    for number in range(count):
        tool = await market.own_tool(f"xyz.example.private{number}@1")
        await market.call(tool, market.attacker, 1, answer, by="stranger", closer="stranger")
        for leader in market.honest:
            for party in ("stranger", "admin"):
                await market.call(tool, leader, 9, refusal, by=party, closer="leader")


@pytest.mark.long
async def test_leader_cannot_make_others_refuse_by_many_tools(market, parties, told):
    """Each tool is one vote, however many requesters call it. Five of them lock 5 SUI."""
    async with parties.round() as played:
        await make_others_refuse(market, 5)
    after, histories = await market.share()
    assert after <= 0.40
    assert visible(histories, market)
    assert [histories.records[leader].failed for leader in market.honest] == [10] * 3
    told(played["stranger"] + 5 * SUI)  # the collateral is refunded


@pytest.mark.long
async def test_leader_cannot_make_leaders_without_a_record_refuse(parties, define, told):
    parties.define = define
    honest = [await parties.register_leader("leader", name) for name in HONEST]
    market = Market(parties, honest, await parties.register_leader("stranger", "unknown"))
    async with parties.round() as played:
        await make_others_refuse(market, 5)
    after, _ = await market.share()
    assert after <= 0.40
    told(played["stranger"] + 5 * SUI)
