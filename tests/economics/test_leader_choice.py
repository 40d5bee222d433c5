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
from nexus_tools.registry.leaders import records, selection
from nexus_tools.registry.leaders.selection import LeaderSelection
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet.ledger import State
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Failure, FailureReason
from tests.node_requests import count_requests
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
        await self.call_by(self.parties.invocations(by), tool, leader, count, outcome, closer)

    async def call_by(self, requester, tool, leader, count, outcome, closer):
        """Request invocations as `call` does, by the account of a client."""
        closing = self.parties.invocations(closer)
        settings = await self.parties.leaders().settings()
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
            leaders = await caller.find_all([*self.honest, self.attacker], Leader)
            histories = await read_histories(caller, leaders)
        random = Random(11)
        first = Counter(choose_leaders(leaders, histories, random)[0] for _ in range(DRAWS))
        return first[self.attacker] / DRAWS, histories

    async def own_tool(self, fqn):
        """Register a free tool of the attacker that is open to all leaders."""
        tools = self.parties.tools("stranger")
        definition = self.parties.define(fqn)
        await tools.register(Registration(definition, price_mist=0))
        return await tools.get(definition.fqn)


@pytest.fixture(autouse=True)
def no_time_limit(monkeypatch):
    """The machine may be slow, and the choice must not depend on this."""
    monkeypatch.setattr(selection, "READ_LIMIT_S", 60)


@pytest.fixture
def counted(monkeypatch):
    """Return a function that counts the requests and SQL instructions of a coroutine."""
    requests = count_requests(monkeypatch)
    rows, instructions = State.rows, Counter()

    def counted_rows(self, statement, parameters=()):
        connection = self._connection
        connection.set_progress_handler(lambda: instructions.update(["sql"]), 1)
        try:
            return rows(self, statement, parameters)
        finally:
            connection.set_progress_handler(None, 1)

    async def counted(coroutine):
        requests.clear()
        instructions.clear()
        monkeypatch.setattr(State, "rows", counted_rows)
        await coroutine
        monkeypatch.setattr(State, "rows", rows)
        return dict(requests), instructions["sql"]

    return counted


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


def honest_records(histories, market):
    return [histories.records[leader] for leader in market.honest]


async def test_leader_cannot_erase_the_records_of_others_by_a_dead_tool(market, parties, told):
    """249 calls of an unreachable tool, divided among three honest leaders."""
    before, earlier = await market.share()
    dead = await market.own_tool("xyz.example.dead@1")
    async with parties.round() as played:
        for leader in market.honest:
            failure = Failure(FailureReason.UNREACHABLE, "")
            await market.call(dead, leader, FLOOD // 3, failure, by="stranger", closer="leader")
    after, histories = await market.share()
    assert after == before <= 0.25
    assert histories == earlier
    assert visible(histories, market)
    assert -SUI < played["stranger"] < 0
    assert played["leader"] >= 0
    told(played["stranger"])


async def test_leader_cannot_become_first_by_its_own_calls(market, parties, told):
    """As many calls of its own tool, which its leader settles with an invented answer."""
    _, earlier = await market.share()
    own = await market.own_tool("xyz.example.own@1")
    async with parties.round() as played:
        await market.call(
            own, market.attacker, FLOOD, parties.ANSWER, by="stranger", closer="stranger"
        )
    after, histories = await market.share()
    assert after <= 0.25
    assert histories.records[market.attacker].settled == 1
    assert honest_records(histories, market) == honest_records(earlier, market)
    told(played["stranger"])


async def test_leader_cannot_become_first_by_many_tools_and_payers(market, parties, told):
    """Five payers call each of eight tools of the attacker, which lock 8 SUI.

    Each tool is one vote, so the attacker's record becomes (8 + 4) / (8 + 8), compared with
    (4 + 4) / (4 + 8) for the honest leaders.
    """
    _, earlier = await market.share()
    chain = parties.chain
    async with parties.round() as played:
        tools = [await market.own_tool(f"xyz.example.own{number}@1") for number in range(8)]
        for number in range(5):
            key = KeyPair.from_bytes(b"\0" + bytes([90 + number] * 32))
            chain.net.fund(key.address, SUI)
            async with SuiClient(chain.net.network, key, retry_policy=QUICK) as client:
                payer = Invocations(client, chain.deployment)
                for tool in tools:
                    await market.call_by(
                        payer, tool, market.attacker, 1, parties.ANSWER, "stranger"
                    )
    after, histories = await market.share()
    assert histories.records[market.attacker].settled == 40
    # The weights are 13/16 for the attacker and 3/4 for each honest leader.
    assert after == pytest.approx((13 / 16) / (13 / 16 + 3 * 3 / 4), abs=0.022)  # five deviations
    assert honest_records(histories, market) == honest_records(earlier, market)
    told(played["stranger"] + 8 * SUI)  # the collateral is refunded


async def test_limitation_leader_can_displace_answers_of_others(market, parties, told):
    """50 answers of the attacker's tool for each honest leader, whose record is then one vote."""
    own = await market.own_tool("xyz.example.own@1")
    async with parties.round() as played:
        for leader in market.honest:
            await market.call(own, leader, 50, parties.ANSWER, by="stranger", closer="leader")
    after, histories = await market.share()
    # The honest leaders of this test share a worker, so the last leader displaces all others.
    assert [histories.records.get(leader) is None for leader in market.honest] == [
        True,
        True,
        False,
    ]
    assert histories.records[market.honest[-1]].settled == 1
    assert after <= 0.25 + 0.022
    assert played["stranger"] < 0 < played["leader"]
    told(played["stranger"], -played["leader"])


async def test_limitation_leader_gets_the_share_of_its_registrations(
    market, parties, told, monkeypatch
):
    """100 further leaders of the attacker without a record lock 1 000 SUI.

    Random candidates are drawn uniformly, so the attacker is first in about 101 of 104 choices of a
    new caller. A caller that has used the honest leaders also compares these leaders.
    """
    chain = parties.chain
    chain.net.fund(parties.address("stranger"), 1_010 * SUI)
    owner = parties.leaders("stranger")
    async with parties.round() as played:
        sybils = [
            (await owner.register(f"sybil{number}", activate=True))[1] for number in range(100)
        ]
    locked = [leader.collateral.balance_mist for leader in await owner.get_all(sybils)]
    assert sum(locked) == 1_000 * SUI

    async def honest_share(party):
        caller, random = LeaderSelection(parties.invocations(party)), Random(11)
        monkeypatch.setattr(selection, "SystemRandom", lambda: random)
        monkeypatch.setattr(records, "SystemRandom", lambda: random)
        first = [(await caller.draw()).leaders[0] for _ in range(400)]
        return sum(leader in market.honest for leader in first) / len(first)

    # The weights are 5/8 for leaders without a record, 3/4 for honest leaders, and 5/3 for honest
    # leaders that the user has used. The user compares these three leaders with 16 sybils.
    assert await honest_share("admin") == pytest.approx(0.034, abs=0.045)  # five deviations
    assert await honest_share("user") == pytest.approx(5 / (5 + 10), abs=0.118)
    told(played["stranger"] + 1_000 * SUI)


@pytest.mark.long
async def test_choice_costs_the_same_in_a_longer_history(market, parties, counted):
    """100 and 5 000 past invocations by others, half of them of the candidates."""
    other = await parties.register_leader("leader", "other")
    tool = await market.own_tool("xyz.example.own@1")

    async def measure():
        selection = LeaderSelection(parties.invocations("admin"))
        return await counted(selection.draw())

    async def call(count):
        for leader in (market.attacker, other):
            closer = "stranger" if leader == market.attacker else "leader"
            await market.call(tool, leader, count // 2, parties.ANSWER, by="owner", closer=closer)

    await call(100)
    requests, instructions = await measure()
    await call(4_900)
    later, more = await measure()
    expected = {"GetObject": 1, "BatchGetObjects": 1, "ListEvents": 2 * 5 + 1}
    assert later == requests == expected
    assert more <= 1.2 * instructions


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
                await market.call(tool, leader, 1, refusal, by=party, closer="leader")


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
