"""The two laws over random markets of all strategies, and the chain, which plays the same rounds.

Law 1, honesty pays best: among all strategies that the chain can see, none earns a leader more than
dispatching an invocation honestly. It does not cover invented or wrong answers of tools that do not
sign, nor a leader that cooperates with a requester to share unpaid answers.

Law 2, the griefing factor is at most 1: an account that was not chosen costs no one anything. A
chosen leader costs a requester the fee for failing and no price. It costs a tool at most three
answers for each leader that it lists, and another leader only its time.
"""

from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import pytest

import marketplace
from marketplace import REFUSED_AFTER, End, Fees, Leader, LeaderPlay, Requester, Tool, ToolPlay
from nexus_tools.errors import NexusError
from nexus_tools.registry import Invocations, LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature, SigningKey
from nexus_tools.tool.signing.signed_outcome import outcome_message
from tests.retry_policies import QUICK

INPUTS = {"a": 2, "b": 3}
ANSWER = Answer("ok", {"result": 5})
FAILURE = Failure(FailureReason.UNREACHABLE, "")
FEES = Fees(
    # By hand, at 1 000 MIST for a unit: 11 bytes of inputs, 13 of the answer.
    fail_mist=1_000 * 1_000 + 520_000 + 100 * 11,
    settle_mist=1_000 * 1_000 + 520_000 + 100 * 11 + 2_000_000 + 7_600 * 13,
)
MARKETS, ROUNDS = 300, 60


def market_of(seed):
    """Return the market of a seed, and its requests round by round."""
    random = Random(seed)
    market = marketplace.random_market(random)
    return market, [market.draw(random) for _ in range(ROUNDS)]


def play_rounds(rounds):
    return [(*entry, marketplace.invoke(*entry, FEES)) for entry in rounds]


@pytest.fixture(scope="module")
def histories():
    """Return the requests and their results in many markets."""
    return [(market, play_rounds(rounds)) for market, rounds in map(market_of, range(MARKETS))]


def test_every_strategy_and_every_closing_occurs(histories):
    ends = {result.end for _, rounds in histories for *_, result in rounds}
    plays = {leader.play for market, _ in histories for leader in market.leaders}
    assert (ends, plays) == ({*End}, {*LeaderPlay})


def test_funds_are_conserved(histories):
    assert all(sum(result.paid.values()) == 0 for _, rounds in histories for *_, result in rounds)


@pytest.mark.parametrize("play", [*LeaderPlay])
def test_law_1_no_leader_earns_more_than_an_honest_one(play):
    """Each leader of many markets in turn plays this strategy, and is honest, in the same rounds.

    The tools sign; see the limit below.
    """
    for seed in range(40):
        for place in range(4):
            earned = {}
            for tried in (LeaderPlay.HONEST, play):
                market, rounds = market_of(seed)
                for tool in market.tools:
                    tool.signs = True
                market.leaders[place].play = tried
                name = market.leaders[place].name
                earned[tried] = sum(result.paid[name] for *_, result in play_rounds(rounds))
            assert earned[play] <= earned[LeaderPlay.HONEST]


def test_law_1_has_a_limit_off_the_chain():
    """An invented answer earns as much as an honest one if the tool does not sign."""
    leader = Leader("leader", LeaderPlay.INVENTING)
    tool = Tool("tool", ToolPlay.HONEST, 1_000_000, [leader], signs=False)
    result = marketplace.invoke(Requester("requester"), tool, [leader], FEES)
    assert (result.invented, result.paid["leader"]) == (True, FEES.settle_mist)


@pytest.mark.parametrize("play", [LeaderPlay.KEEPING, LeaderPlay.HOARDING])
def test_law_1_has_a_limit_when_a_leader_and_a_requester_cooperate(play):
    """Together they get three unpaid answers, which is a tool's risk for each listed leader."""
    requester = Requester("requester", league=True)
    leader = Leader("leader", play, requester)
    tool = Tool("tool", ToolPlay.HONEST, 100_000_000, [leader], signs=True)
    results = [marketplace.invoke(requester, tool, [leader], FEES) for _ in range(10)]
    assert [result.has_answer for result in results] == [True] * REFUSED_AFTER + [False] * 7
    assert sum(result.paid["leader"] + result.paid["requester"] for result in results) == 0


def test_law_2_other_accounts_cost_no_one_anything(histories):
    for _, rounds in histories:
        for requester, tool, named, result in rounds:
            chosen = {requester.name, tool.name, *(leader.name for leader in named)}
            assert {name for name, mist in result.paid.items() if mist} <= chosen


def test_law_2_requester_loses_the_price_only_for_a_settled_answer(histories):
    for _, rounds in histories:
        for requester, tool, _, result in rounds:
            lost = -result.paid[requester.name]
            if result.end is End.SETTLED:
                assert lost == tool.price_mist + FEES.settle_mist
            else:
                assert lost in (0, FEES.fail_mist)


def test_law_2_invented_answer_of_a_signing_tool_is_never_settled(histories):
    assert not any(
        result.invented for _, rounds in histories for _, tool, _, result in rounds if tool.signs
    )


def test_law_2_tool_gives_each_leader_at_most_three_unpaid_answers(histories):
    most = 0
    for _, rounds in histories:
        given = Counter()
        for _, tool, _, result in rounds:
            if tool.price_mist and result.end is not End.SETTLED:
                given.update(
                    {(tool.name, leader): count for leader, count in result.answers.items()}
                )
        most = max(most, *given.values(), 0)
    assert most == REFUSED_AFTER


def test_law_2_invocation_pays_for_one_answer_to_each_leader(histories):
    given = [count for _, rounds in histories for *_, r in rounds for count in r.answers.values()]
    assert max(given) == 1


# --- The chain plays the same


@pytest.mark.parametrize("seed", range(3))
async def test_chain_pays_by_the_rules(chain, define, seed):
    """The balances of all parties on the localnet, without gas, match the arithmetic."""
    market, rounds = market_of(seed)
    async with stage_of(market, chain, define) as stage:
        for entry in rounds[:12]:
            expected = marketplace.invoke(*entry, FEES)
            flowed = await stage.play(*entry, expected)
            assert flowed == {name: mist for name, mist in expected.paid.items() if mist}


@asynccontextmanager
async def stage_of(market, chain, define):
    """Yield a market that is registered on the localnet."""
    parties = (*market.requesters, *market.tools, *market.leaders)
    async with AsyncExitStack() as stack:
        clients = {}
        for number, party in enumerate(parties, 100):
            key = KeyPair.from_bytes(b"\0" + bytes([number] * 32))
            chain.net.fund(key.address, 1_000 * 10**9)
            client = SuiClient(chain.net.network, key, retry_policy=QUICK)
            clients[party.name] = await stack.enter_async_context(client)
        stage = Stage(chain, clients)
        await stage.register(market, define)
        yield stage


class Stage:
    """All participants, each with its own key."""

    def __init__(self, chain, clients):
        self.chain, self.clients = chain, clients
        self.leaders, self.tools, self.key = {}, {}, SigningKey.new()

    def verbs(self, room, party):
        return room(self.clients[party.name], self.chain.deployment)

    async def register(self, market, define):
        for leader in market.leaders:
            registry = self.verbs(LeaderRegistry, leader)
            _, self.leaders[leader.name] = await registry.register(leader.name, activate=True)
        for number, tool in enumerate(market.tools):
            definition = define(f"xyz.example.market.tool{number}@1")
            listed = tuple(self.leaders[leader.name] for leader in tool.leaders)
            signing = {"keys": (self.key.public_key,), "requires_signed_outcome": True}
            terms = signing if tool.signs else {}
            registry = self.verbs(ToolRegistry, tool)
            await registry.register(
                Registration(definition, tool.price_mist, leaders=listed, **terms)
            )
            self.tools[tool.name] = await registry.get(definition.fqn)

    async def play(self, requester, tool, named, expected):
        """Play a round to its expected end, and return the payments without gas."""
        purses = await self.purses()
        invocations = self.verbs(Invocations, requester)
        leaders = [self.leaders[leader.name] for leader in named]
        sent, place = await invocations.request(self.tools[tool.name], INPUTS, leaders=leaders)
        gas = Counter({requester.name: sent.cost.net})
        for leader in named:
            if leader is expected.closer:
                gas[leader.name] += (await self.close(tool, leader, place, expected.end)).cost.net
                break
            self.chain.net.advance_clock(20_000)  # its window: the timeout of 5 s, and 15 s
        gas[requester.name] += (await invocations.delete(place)).cost.net
        after = await self.purses()
        flowed = {name: after[name] - had + gas[name] for name, had in purses.items()}
        return {name: mist for name, mist in flowed.items() if mist}

    async def close(self, tool, leader, place, end):
        """Close an invocation as a leader, with the tool's signature if it signs."""
        invocations, at = self.verbs(Invocations, leader), self.leaders[leader.name]
        if end is End.SETTLED:
            return await invocations.close(at, {place: self.answer(tool, place)})
        if leader.play is LeaderPlay.INVENTING:
            with pytest.raises(NexusError, match="signed"):
                await invocations.close(at, {place: ANSWER})
        return await invocations.close(at, {place: FAILURE})

    def answer(self, tool, place):
        if not tool.signs:
            return ANSWER
        signature = self.key.private.sign(outcome_message(bytes(place), INPUTS, ANSWER))
        return Answer(
            ANSWER.variant, ANSWER.ports, OutcomeSignature(self.key.public_key, signature)
        )

    async def purses(self):
        return {name: await client.balance(client.address) for name, client in self.clients.items()}
