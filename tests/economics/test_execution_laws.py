"""The two laws over random executions of all strategies; and the chain, which pays the same.

Law 1, honesty pays best: to settle earns a leader more than to fail, and to fail costs it nothing.
Who fails on purpose is paid for each attempt that the owner allowed.

Law 2: what a workflow, its tools and its owner do to a leader costs it the first request at most,
and who is silent is paid for no closing.

With `NEXUS_TOOLS_DOCUMENTS=10000` as many stories are played by the rules.
"""

from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from nexus_tools.client import KeyPair, Network, Patience, SuiClient, request_sui
from nexus_tools.localnet import Localnet, Origin
from nexus_tools.package import Publisher
from nexus_tools.registry import LeaderRegistry
from nexus_tools.workflow import ERR_EVAL
from tests.economics.carried import MIST, Stage
from tests.economics.execution_rules import Fees, hundredths_of
from tests.economics.execution_stories import (
    DOCUMENTS,
    PLAIN,
    SIGNED,
    LeaderPlay,
    OwnerPlay,
    ToolPlay,
    play,
    stories,
)
from tests.economics.gas_bounds import PROTOCOLS, gas_bound_mist, margin_mist
from tests.economics.played_execution import PlayedExecution
from tests.economics.test_executions import definition
from tests.executions.carrying import Carrier

PRICES = (500, 1_000, 5_000)
REQUEST_UNITS = 1_500
"""More than the first request takes, which no fee pays."""


@pytest.fixture(params=PRICES)
def price(request):
    return request.param


@pytest.fixture(params=PROTOCOLS)
def protocol(request):
    return request.param


async def played(story, price=1_000):
    """The execution of a story by the rules."""
    rules = story.ruled(Fees(price))
    rules.begin(story.values, max_steps=story.max_steps)
    await play(story, rules)
    return rules


async def test_every_strategy_was_played():
    found = list(stories())
    for plays, name in ((OwnerPlay, "owner"), (LeaderPlay, "leader"), (ToolPlay, "tool")):
        assert {getattr(story, name) for story in found} == {*plays}


async def test_law_1_to_settle_pays_more_than_to_fail(protocol, price):
    margins = {"settled": [], "failed": []}
    for story in stories(leader=LeaderPlay.HONEST):
        for paid in (await played(story, price)).paid:
            if paid.is_closing and not paid.refusals:
                margins[paid.closing].append(margin_mist(protocol, paid, price))
    assert min(margins["settled"]) > 0
    assert min(margins["settled"]) > max(margins["failed"])
    assert min(margins["failed"]) >= 0


@pytest.mark.parametrize("leader_play", [*LeaderPlay])
async def test_law_1_no_leader_earns_more_than_if_it_had_been_honest(protocol, price, leader_play):
    """Where a run has one attempt, its tool responds, and no failure leads to further runs, each of
    which would be paid; the same stories are played twice."""
    for story in stories(attempts=1, owner=OwnerPlay.HONEST, tool=ToolPlay.ANSWERS):
        if any(ERR_EVAL in vertex.variants for vertex in story.plan.vertices.values()):
            continue
        earned = {}
        for tried in (LeaderPlay.HONEST, leader_play):
            rules = await played(story.of(leader=tried), price)
            earned[tried] = sum(margin_mist(protocol, paid, price) for paid in rules.paid)
        assert earned[leader_play] <= earned[LeaderPlay.HONEST]


async def test_law_1_ends_where_the_owner_allows_several_attempts(protocol, price):
    """A leader that fails on purpose is paid for each attempt, and never more than for settling."""
    most, most_mist = 0, 0
    for story in stories(leader=LeaderPlay.MILKS, owner=OwnerPlay.HONEST):
        rules = await played(story, price)
        for run, closings in rules.closings.items():
            assert closings <= story.plan.vertices[run.vertex].vertex.attempts
            most = max(most, closings)
        for paid in rules.paid:
            if paid.closing == "failed" and not paid.refusals:
                most_mist = max(most_mist, margin_mist(protocol, paid, price))
    settled = [
        margin_mist(protocol, paid, price)
        for story in stories(leader=LeaderPlay.HONEST)
        for paid in (await played(story, price)).paid
        if paid.closing == "settled" and not paid.refusals
    ]
    assert most_mist < min(settled)
    assert most > 1


async def test_law_2_executions_cost_a_leader_the_first_request_at_most(protocol, price):
    """Whatever the owner and the tools do, who are the attackers here."""
    for story in stories(leader=LeaderPlay.HONEST):
        first, *others = (await played(story, price)).paid
        assert margin_mist(protocol, first, price) > -REQUEST_UNITS * price - 500_000
        assert sum(margin_mist(protocol, paid, price) for paid in others) >= 0


async def test_law_2_who_is_silent_or_goes_on_for_others_is_paid_for_no_closing(price):
    """All that flows then is paid for what a step stores and computes."""
    for story in stories(leader=LeaderPlay.SILENT, owner=OwnerPlay.HONEST):
        for paid in (await played(story, price)).paid:
            assert not paid.is_closing
            assert paid.fees_mist <= hundredths_of(paid.effort) * price // 100


async def test_law_2_an_execution_pays_no_more_than_its_steps(price):
    """A leader that fails costs the owner the fee for failing, once for each step it allowed."""
    fees = Fees(price)
    for story in stories(leader=LeaderPlay.FAILS):
        rules = await played(story, price)
        failed = [paid for paid in rules.paid if paid.is_closing]
        assert len(failed) <= rules.steps_taken <= story.max_steps + 1
        refused = sum(paid.refusals for paid in rules.paid)
        worked_mist = sum(hundredths_of(paid.effort) * price // 100 for paid in rules.paid)
        most_mist = len(failed) * fees.failing_mist() + refused * fees.refusing_mist()
        assert sum(paid.fees_mist for paid in rules.paid) <= most_mist + worked_mist


# --- The chain pays the same


@asynccontextmanager
async def network_of(protocol):
    """A stage on a localnet of a protocol version, what publishes its workflows, and its clock."""
    async with Localnet(origin=Origin(protocol_version=protocol)) as net:
        network = Network("localnet", net.url, net.url)
        quick = Patience(first_pause_s=0.001, longest_pause_s=0.01)
        keys = [KeyPair.from_bytes(b"\0" + bytes([number] * 32)) for number in (7, 8)]
        for key in keys:
            await request_sui(network, key.address, 20_000 * MIST)
        async with (
            SuiClient(network, keys[0], patience=quick) as owner,
            SuiClient(network, keys[1], patience=quick) as worker,
        ):
            deployment = (await Publisher(owner).publish()).deployment
            leaders = LeaderRegistry(worker, deployment)
            _, leader = await leaders.register("first", activate=True)
            stage = Stage(deployment, owner, worker, leader)
            await stage.register_tool(definition(PLAIN, ["e"]))
            await stage.register_tool(definition(SIGNED, ["e"]), signs=True)
            chain = SimpleNamespace(net=net, deployment=deployment)
            carrier = Carrier(chain, owner, worker, leader, await leaders.settings())
            yield stage, carrier, net.advance_clock


async def test_chain_pays_what_the_rules_say_for_no_more_gas_than_the_bound(protocol):
    async with network_of(protocol) as (stage, carrier, clock):
        for story in stories(max(3, DOCUMENTS // 20)):
            rules = story.ruled()
            rules.begin(story.values, max_steps=story.max_steps)
            workflow = await carrier.publish(story.document)
            execution = PlayedExecution(stage, workflow, story, rules, clock)
            await execution.begin()
            await play(story, rules, execution)
            assert set(execution.requests) == set(rules.requests)
            for paid, cost in zip(rules.paid, execution.costs, strict=True):
                assert cost.net <= gas_bound_mist(protocol, paid)
            if execution.has_raised:
                await execution.raise_timeouts(timeout_ms=5_000)
