"""The two laws over random markets of all strategies; and the chain, which plays the same rounds.

Law 1, honesty pays best: of all that a leader can do so that the chain sees it, nothing earns more
than to carry an invocation honestly. Law 2, the griefing factor is at most 1 for strangers: who was
not chosen costs nobody anything; who was chosen costs a requester no price, a tool at most three
prices for each leader that it lists, and a leader nothing but its time.
"""

from collections import Counter
from random import Random

import pytest

import marketplace
from marketplace import End, Fees, Leader, LeaderPlay, Requester, Tool, ToolPlay
from nexus_tools.client import KeyPair, SuiClient
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.tool import Answer, Failure, FailureReason

FEES = Fees(settle_mist=3_557_700, fail_mist=1_451_300, unused_mist=31_000_000)
"""As `scripts/economics` prints them at 1 000 MIST for an answer of 14 bytes."""

MARKETS, ROUNDS = 300, 60


@pytest.fixture(scope="module")
def histories():
    """What happened in many markets: who requested what of whom, and how it ended."""
    random = Random(20261123)
    played = []
    for _ in range(MARKETS):
        market = marketplace.random_market(random)
        rounds = []
        for _ in range(ROUNDS):
            requester, tool, named = market.draw(random)
            rounds.append(
                (requester, tool, named, marketplace.invoke(requester, tool, named, FEES))
            )
        played.append((market, rounds))
    return played


def test_every_strategy_and_every_end_was_played(histories):
    ends = {result.end for _, rounds in histories for *_, result in rounds}
    plays = {leader.play for market, _ in histories for leader in market.leaders}
    assert (ends, plays) == ({*End}, {*LeaderPlay})


def test_money_is_conserved(histories):
    assert all(sum(result.paid.values()) == 0 for _, rounds in histories for *_, result in rounds)


def test_law_1_no_leader_earns_more_by_anything_than_by_an_honest_answer():
    """For each play of a leader, with each kind of tool."""
    for tool_play in ToolPlay:
        earned = {}
        for play in LeaderPlay:
            leader = Leader("leader", play)
            tool = Tool("tool", tool_play, 1_000_000, [leader], signs=True)
            result = marketplace.invoke(Requester("requester"), tool, [leader], FEES)
            earned[play] = result.paid["leader"]
        assert max(earned.values()) == earned[LeaderPlay.HONEST]


def test_law_1_ends_where_the_chain_does_not_see():
    """An invented answer earns as much as an honest one, where the tool does not sign."""
    leader = Leader("leader", LeaderPlay.INVENTING)
    tool = Tool("tool", ToolPlay.HONEST, 1_000_000, [leader], signs=False)
    result = marketplace.invoke(Requester("requester"), tool, [leader], FEES)
    assert (result.invented, result.paid["leader"]) == (True, FEES.settle_mist)


def test_law_2_strangers_cost_nobody_anything(histories):
    for _, rounds in histories:
        for requester, tool, named, result in rounds:
            chosen = {requester.name, tool.name, *(leader.name for leader in named)}
            assert {name for name, mist in result.paid.items() if mist} <= chosen


def test_law_2_a_requester_never_loses_a_price_without_an_answer_that_was_settled(histories):
    for _, rounds in histories:
        for requester, tool, _, result in rounds:
            lost = -result.paid[requester.name]
            if result.end is End.SETTLED:
                assert lost == tool.price_mist + FEES.settle_mist
            else:
                assert lost in (0, FEES.fail_mist)


def test_law_2_no_invented_answer_is_settled_for_a_tool_that_signs(histories):
    assert not any(
        result.invented for _, rounds in histories for _, tool, _, result in rounds if tool.signs
    )


def test_law_2_a_tool_gives_at_most_three_answers_for_nothing_to_each_leader(histories):
    most = 0
    for _, rounds in histories:
        given = Counter()
        for requester, tool, named, result in rounds:
            if tool.price_mist and result.answered and result.end is not End.SETTLED:
                given[tool.name, named[0].name] += 1
                assert requester.league
        most = max(most, *given.values(), 0)
    assert most == marketplace.REFUSED_AFTER


# --- The chain plays the same


@pytest.mark.parametrize("seed", range(3))
async def test_the_chain_pays_as_the_rules_say(chain, define, seed):
    """Purses of all parties on the localnet, gas taken out, against the arithmetic."""
    random = Random(seed)
    market = marketplace.random_market(random)
    async with _Stage(chain) as stage:
        await stage.build(market, define)
        for _ in range(12):
            requester, tool, named = market.draw(random)
            fees = await stage.fees(tool)
            expected = marketplace.invoke(requester, tool, named, fees)
            assert await stage.play(requester, tool, named, expected) == expected.paid


class _Stage:
    """A market on the localnet: every party has a key of its own."""

    def __init__(self, chain):
        self.chain, self.clients, self.leaders, self.spent = chain, {}, {}, Counter()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        for client in self.clients.values():
            await client.__aexit__(None, None, None)

    async def client(self, name):
        if name not in self.clients:
            key = KeyPair.new()
            self.chain.net.fund(key.address, 1_000 * 10**9)
            self.clients[name] = await SuiClient(self.chain.net.network, key).__aenter__()
        return self.clients[name]

    async def build(self, market, define):
        deployment = self.chain.deployment
        for leader in market.leaders:
            registry = LeaderRegistry(await self.client(leader.name), deployment)
            _, self.leaders[leader.name] = await registry.register(leader.name, activate=True)
        for place, tool in enumerate(market.tools):
            registry = ToolRegistry(await self.client(tool.name), deployment)
            listed = tuple(self.leaders[leader.name] for leader in tool.leaders)
            definition = define(f"xyz.example.market.tool{place}@1")
            await registry.register(Registration(definition, tool.price_mist, leaders=listed))
        for requester in market.requesters:
            await self.client(requester.name)

    async def on_chain(self, tool):
        registry = ToolRegistry(await self.client(tool.name), self.chain.deployment)
        return await registry.get(f"xyz.example.market.tool{tool.name.rpartition(' ')[2]}@1")

    async def fees(self, tool):
        """By the settings: 14 bytes of inputs and answer each are counted by `size`."""
        settings = await LeaderRegistry(
            await self.client(tool.name), self.chain.deployment
        ).settings()
        failing = settings.fee_gas_units * 1_000 + settings.fee_storage_mist
        failing += settings.fee_per_input_byte_mist * 15
        settling = failing + settings.settle_margin_mist
        return Fees(settling + settings.fee_per_outcome_byte_mist * 15, failing, 0)

    async def play(self, requester, tool, named, expected):
        before = await self.purses()
        self.spent.clear()
        client = await self.client(requester.name)
        invocations = Invocations(client, self.chain.deployment)
        leaders = [self.leaders[leader.name] for leader in named]
        sent, place = await invocations.request(
            await self.on_chain(tool), {"a": 2, "b": 3}, leaders=leaders
        )
        self.spend(requester, sent)
        if expected.closer is None:
            self.chain.net.advance_clock(41_000)
        else:
            if expected.closer is not named[0]:
                self.chain.net.advance_clock(20_001)
            closer = await self.client(expected.closer.name)
            outcome = (
                Answer("ok", {"result": 5})
                if expected.end is End.SETTLED
                else Failure(FailureReason.UNREACHABLE, "")
            )
            self.spend(
                expected.closer,
                await Invocations(closer, self.chain.deployment).close(
                    self.leaders[expected.closer.name], {place: outcome}
                ),
            )
        self.spend(requester, await invocations.delete(place))
        after = await self.purses()
        return +Counter(
            {name: after[name] - before[name] + self.spent[name] for name in after}
        ) - Counter() or self._changes(before, after)

    def _changes(self, before, after):
        return {}

    def spend(self, party, sent):
        self.spent[party.name] += sent.cost.net

    async def purses(self):
        return {name: await each.balance(each.address) for name, each in self.clients.items()}
