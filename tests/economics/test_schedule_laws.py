"""The two laws over random schedules of all strategies.

Law 1: a keeper that starts a due execution is repaid its cost. Law 2: a keeper that starts nothing
is paid nothing, and false event reports cost an owner a limited number of executions.

With `NEXUS_TOOLS_DOCUMENTS=2000` the rules play that many stories.
"""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.economics.execution_stories import LeaderPlay
from tests.economics.fee_rules import Fees
from tests.economics.schedule_rules import DAY_MS
from tests.economics.schedule_stories import (
    EventPlay,
    KeeperPlay,
    SenderPlay,
    play_schedules,
    schedule_stories,
)
from tests.economics.test_execution_laws import PRICES, run


@pytest.fixture(params=PRICES)
def price(request):
    return request.param


def play_by_rules(story, price=1_000):
    """Return the schedules of a story by the rules, at their end."""
    rules = story.ruled(Fees(price))
    run(play_schedules(story, rules))
    return rules


def test_stories_have_every_strategy():
    found = list(schedule_stories())
    plays = (KeeperPlay, "keeper"), (SenderPlay, "owner"), (EventPlay, "events")
    for strategies, name in plays:
        assert {getattr(story, name) for story in found} >= {*strategies}


def test_law_1_keepers_are_paid_for_each_execution_that_they_start(price):
    """The gas of a transaction is paid once, and the fee of the owner for each execution."""
    begun = Counter()
    for story in schedule_stories():
        for paid in play_by_rules(story, price).paid:
            begun[paid.begun > 0] += 1
            assert (paid.mist > 0) == (paid.begun > 0)
            if paid.begun:
                assert paid.fees_mist - paid.earned_mist >= 1_000 * price + 300_000
    assert begun[True]
    assert begun[False]


def test_law_2_funds_of_schedules_are_paid_or_refunded(price):
    """A cancelled schedule whose executions have ended never holds funds."""
    ended = 0
    for story in schedule_stories():
        rules = play_by_rules(story, price)
        for schedule in rules.schedules:
            spent_mist = schedule.paid_mist + sum(
                execution.spent_mist for execution in schedule.executions
            )
            held_mist = schedule.funds_mist + sum(
                execution.held_mist for execution in schedule.executions
            )
            assert schedule.given_mist == spent_mist + schedule.refunded_mist + held_mist
            if not rules.running():
                ended += 1
                assert not held_mist
    assert ended


def test_law_2_event_reports_start_at_most_one_execution_per_pause(price):
    for story in schedule_stories(events=EventPlay.FALSE):
        rules = play_by_rules(story, price)
        for schedule in rules.schedules:
            times = [
                execution.deadline_ms - execution.duration_ms for execution in schedule.executions
            ]
            pauses = [later - sooner for sooner, later in pairwise(times)]
            assert all(pause >= schedule.order.timing.pause_ms for pause in pauses)
            days = Counter(time // DAY_MS for time in times)
            assert all(count <= schedule.order.timing.max_per_day for count in days.values())


def test_law_2_schedules_start_at_most_as_many_executions_as_the_owner_allows():
    for story in schedule_stories(keeper=KeeperPlay.REPEATS):
        for schedule in play_by_rules(story).schedules:
            most = schedule.order.max_executions
            assert most is None or schedule.begun <= most
            assert schedule.paid_mist <= schedule.begun * schedule.needed_mist


def test_law_2_early_keepers_start_nothing():
    """They try at the planned time, and again once they may."""
    for story in schedule_stories(keeper=KeeperPlay.EAGER, events=None):
        rules = play_by_rules(story)
        for schedule in rules.schedules:
            for execution in schedule.executions:
                begun_ms = execution.deadline_ms - execution.duration_ms
                due_ms = max(time for time in schedule.order.timing.times if time <= begun_ms)
                assert begun_ms - due_ms >= story.place * 10_000


def test_law_2_silent_leaders_of_executions_lock_no_funds():
    for story in schedule_stories(owner=SenderPlay.STOPS):
        rules = play_by_rules(replace(story, story=story.story.of(leader=LeaderPlay.SILENT)))
        if not rules.running():
            assert not any(schedule.funds_mist for schedule in rules.schedules)
