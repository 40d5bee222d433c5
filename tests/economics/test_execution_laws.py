"""The two laws over random executions of all strategies.

Law 1, honesty pays best: settling earns a leader more than failing, and failing costs it
nothing. A leader that fails on purpose is paid for each attempt that the owner allowed.

Law 2: a workflow, its tools and its owner cost a leader at most the first request, and a silent
leader is paid for no closing.

With `NEXUS_TOOLS_DOCUMENTS=2000` the rules play that many stories.
"""

from typing import NamedTuple

import pytest

from nexus_tools.workflow import ERR_EVAL, Status
from tests.economics.execution_stories import (
    DOCUMENTS,
    LeaderPlay,
    OwnerPlay,
    ToolPlay,
    end,
    play,
    stories,
)
from tests.economics.fee_rules import Fees, hundredths_of
from tests.economics.gas_bounds import HEAVY_EFFORT, PROTOCOLS, margin_mist

PRICES = (500, 1_000, 5_000)
REQUEST_UNITS = 1_500
"""More than the cost of the first request, which no fee pays."""
REFUSING_UNITS = 300
"""More gas units than a refusal costs beyond what it pays, in a separate transaction."""
OWNER_UNITS = 2_000
"""The minimum cost for an owner to start an execution and delete it."""


_SUMMARIES = {}


class Summary(NamedTuple):
    """The payments of an execution, the closings of each run, its steps, and short funds."""

    paid: list
    closings: dict
    steps_taken: int
    shortages: int


@pytest.fixture(params=PRICES)
def price(request):
    return request.param


def run(play):
    """Run a coroutine that never waits."""
    try:
        play.send(None)
    except StopIteration as stopped:
        return stopped.value
    raise AssertionError("it waits")


def play_by_rules(story, price=1_000, **terms):
    """Return the execution of a story by the rules."""
    fees = Fees(price)
    rules = story.ruled(fees)
    rules.begin(story.values, **(story.terms(fees) | terms))
    run(play(story, rules))
    return rules


def summary(story, price=1_000):
    """Return the payments of a story by the rules, for several laws."""
    key = story.key, price
    if key not in _SUMMARIES:
        rules = play_by_rules(story, price)
        _SUMMARIES[key] = Summary(rules.paid, rules.closings, rules.steps_taken, rules.shortages)
    return _SUMMARIES[key]


def sent_payments(rules):
    """Return the payments of the leader's transactions.

    A Leader simulates its steps, and does not send those without an effect.
    """
    return [paid for paid in rules.paid if paid.is_leader and (paid.mist or paid.is_closing)]


def closings(rules):
    """Return the payments of closings without refusals that few steps follow."""
    found = [paid for paid in sent_payments(rules) if paid.is_closing and not paid.refusals]
    return [paid for paid in found if paid.effort <= HEAVY_EFFORT]


def test_stories_have_every_strategy():
    found = list(stories())
    for plays, name in ((OwnerPlay, "owner"), (LeaderPlay, "leader"), (ToolPlay, "tool")):
        assert {getattr(story, name) for story in found} == {*plays}


def test_law_1_settling_pays_more_than_failing(price):
    margins = {(protocol, item): [] for protocol in PROTOCOLS for item in ("settled", "failed")}
    for story in stories(leader=LeaderPlay.HONEST):
        for paid in closings(summary(story, price)):
            for protocol in PROTOCOLS:
                margins[protocol, paid.closing].append(margin_mist(protocol, paid, price))
    for protocol in PROTOCOLS:
        settled, failed = margins[protocol, "settled"], margins[protocol, "failed"]
        assert min(settled) > 0
        assert min(settled) > max(failed)
        assert min(failed) >= 0


def test_law_1_no_leader_earns_more_than_an_honest_one(price):
    """Each strategy plays the same stories.

    Each run has one attempt, its tool responds, and no failure leads to further runs, which would
    be paid separately.
    """
    for story in stories(attempts=1, owner=OwnerPlay.HONEST, tool=ToolPlay.ANSWERS):
        if any(ERR_EVAL in vertex.variants for vertex in story.plan.vertices.values()):
            continue
        honest, *others = (
            sent_payments(summary(story.of(leader=strategy), price)) for strategy in LeaderPlay
        )
        for protocol in PROTOCOLS:
            most_mist = earned_mist(honest, protocol, price)
            assert all(earned_mist(item, protocol, price) <= most_mist for item in others)


def earned_mist(payments, protocol, price):
    return sum(margin_mist(protocol, paid, price) for paid in payments)


def test_law_1_has_a_limit_when_the_owner_allows_several_attempts(price):
    """A leader that fails on purpose is paid for each attempt, but never more than for settling."""
    most, most_mist, least_mist = 0, {}, {}
    for story in stories(leader=LeaderPlay.MILKS, owner=OwnerPlay.HONEST):
        rules = summary(story, price)
        for closed, count in rules.closings.items():
            assert count <= story.plan.vertices[closed.vertex].vertex.attempts
            most = max(most, count)
        honest = summary(story.of(leader=LeaderPlay.HONEST), price)
        for protocol in PROTOCOLS:
            failed = _margins(rules, "failed", protocol, price)
            settled = _margins(honest, "settled", protocol, price)
            most_mist[protocol] = max(most_mist.get(protocol, 0), *failed, 0)
            least_mist[protocol] = min([least_mist.get(protocol, 10**12), *settled])
    assert all(most_mist[protocol] < least_mist[protocol] for protocol in PROTOCOLS)
    assert most > 1


def test_law_1_has_a_limit_when_many_steps_follow_a_closing():
    """Each step is paid separately, and gas gets more expensive the longer a transaction runs.

    A leader loses by such a closing, but less than the attacker pays for it.
    """
    heavy = []
    for story in stories(leader=LeaderPlay.HONEST, owner=OwnerPlay.HONEST, tool=ToolPlay.ANSWERS):
        heavy += [paid for paid in sent_payments(summary(story)) if paid.effort > HEAVY_EFFORT]
    for protocol in PROTOCOLS:
        assert all(margin_mist(protocol, paid) >= -paid.fees_mist for paid in heavy)


def _margins(rules, closing, protocol, price):
    found = [paid for paid in closings(rules) if paid.closing == closing]
    return [margin_mist(protocol, paid, price) for paid in found]


def test_law_2_executions_cost_a_leader_at_most_the_first_request(price):
    """The owner and the tools attack. Funds and time are sufficient, and no run is refused."""
    for story in stories(leader=LeaderPlay.HONEST):
        rules = summary(story, price)
        payments = sent_payments(rules)
        if not payments or rules.shortages or story.owner in (OwnerPlay.LATE, OwnerPlay.RAISES):
            continue
        if any(paid.effort > HEAVY_EFFORT for paid in payments):
            continue
        first, *others = payments
        refused = sum(paid.refusals > 0 and not paid.is_closing for paid in others)
        for protocol in PROTOCOLS:
            assert margin_mist(protocol, first, price) > -REQUEST_UNITS * price - 500_000
            allowed_mist = REFUSING_UNITS * price * refused
            assert earned_mist(others, protocol, price) >= -allowed_mist, story.seed


def test_law_2_attacker_spends_more_than_its_leader_loses(price):
    """Insufficient funds, refusals and the deadline may also leave further steps unpaid."""
    for story in stories(leader=LeaderPlay.HONEST):
        payments = sent_payments(summary(story, price))
        fees_mist = sum(paid.fees_mist for paid in payments)
        for protocol in PROTOCOLS:
            lost_mist = -earned_mist(payments, protocol, price)
            assert lost_mist <= fees_mist + OWNER_UNITS * price, story.seed


def test_law_2_silent_leader_is_not_paid(price):
    """The payments cover the storage and computation of a step, and advancing."""
    step_mist = Fees(price).advancing_mist(0)
    for story in stories(leader=LeaderPlay.SILENT, owner=OwnerPlay.HONEST):
        for paid in summary(story, price).paid:
            assert not paid.is_closing
            assert paid.fees_mist <= hundredths_of(paid.effort) * price // 100 + step_mist


def test_law_2_execution_pays_only_for_its_steps(price):
    """A leader that fails costs the owner the fee for failing, once for each allowed step."""
    fees = Fees(price)
    for story in stories(leader=LeaderPlay.FAILS):
        rules = summary(story, price)
        failed = [paid for paid in rules.paid if paid.is_closing]
        assert len(failed) <= rules.steps_taken <= story.max_steps + 1
        refused = sum(paid.refusals for paid in rules.paid)
        worked_mist = sum(hundredths_of(paid.effort) * price // 100 for paid in rules.paid)
        most_mist = len(failed) * fees.failing_mist() + refused * fees.refusing_mist()
        most_mist += rules.steps_taken * fees.advancing_mist(0)
        assert sum(paid.fees_mist for paid in rules.paid) <= most_mist + worked_mist


def test_funds_are_paid_or_refunded(price):
    """An ended execution holds no funds after any actions of the parties."""
    ended = 0
    for story in stories():
        rules = play_by_rules(story, price)
        if run(end(story, rules)):
            assert rules.has_ended
            assert not rules.held_mist
            ended += 1
        assert rules.given_mist == rules.spent_mist + rules.refunded_mist + rules.held_mist
    assert ended > DOCUMENTS / 2


def test_funds_are_refunded_immediately_if_the_owner_cancels(price):
    """All funds are refunded, except the payments of pending invocations."""
    for story in stories(owner=OwnerPlay.HONEST):
        rules = play_by_rules(story, price)
        rules.stop(Status.CANCELLED)
        assert rules.funds_mist == 0


def test_estimates_are_sufficient(price):
    """The largest estimate always is; the usual one is if no vertex is in a loop or a region."""
    fees, bounded = Fees(price), 0
    for story in stories(leader=LeaderPlay.HONEST, owner=OwnerPlay.HONEST):
        cost = story.estimate(fees)
        assert not play_by_rules(story, price, funds_mist=cost.maximum_mist).shortages
        if cost.is_bounded:
            bounded += 1
            assert not play_by_rules(story, price, funds_mist=cost.recommended_mist).shortages
    assert bounded
