"""Schedule events, and when each schedule is checked."""

import random
from itertools import pairwise

import pytest

from nexus_tools.contracts.move_bindings.workflows import schedule as moves
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.errors import UnreachableError, WrongStateError
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.schedules.assigned_schedules import AssignedSchedules
from nexus_tools.leader.schedules.retry_delays import RetryDelays
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

ME, OTHER = Address.of(0x1EAD), Address.of(0x0DD)
FIRST, SECOND = Address.of(0x51), Address.of(0x52)
PLACE = Cursor.beginning()


class Clock:
    """A clock that jumps to the time for which a task waits."""

    def __init__(self):
        self.ms = 0

    def now_ms(self):
        return self.ms

    async def wait_until(self, moment_ms):
        self.ms = max(self.ms, moment_ms)


@pytest.fixture
def forgotten():
    return []


@pytest.fixture
def named(forgotten):
    return AssignedSchedules(ME, Clock(), forgotten.append)


def led_by(schedule, leader):
    return moves.ScheduleLeadersChanged(schedule, (leader,))


def triggered(schedule, execution):
    return moves.ScheduleTriggered(schedule, execution, OTHER, 0, 0, None, None, 0, 0, 0)


def collected(schedule, execution):
    return moves.ScheduleCollected(schedule, execution, "completed", 0, 0, 0, False)


def ended(execution):
    return ExecutionEnded(execution, OTHER, OTHER, "completed", 1, 0, 0)


def refilled(schedule):
    return moves.ScheduleRefilled(schedule, 1, 1)


async def next_due(named):
    """Return the schedules that are due next, and release them."""
    due = await named.due()
    for schedule in due:
        named.release(schedule)
    return [schedule.id for schedule in due]


async def test_resumed_schedules_are_checked(named):
    named.resume({FIRST: Cursor(7, 0, 0), SECOND: Cursor(8, 0, 0)})
    assert await next_due(named) == [FIRST, SECOND]
    assert named.get(FIRST).since == Cursor(7, 0, 0)


def test_resume_keeps_the_earlier_position_of_a_schedule(named, forgotten):
    named.apply(led_by(FIRST, ME), Cursor(7, 0, 0))
    named.apply(led_by(SECOND, ME), Cursor(7, 0, 0))
    named.resume({FIRST: Cursor(5, 0, 0), SECOND: Cursor(9, 0, 0)})
    assert [named.get(each).since.checkpoint for each in (FIRST, SECOND)] == [5, 7]
    assert forgotten == [FIRST]  # it is followed again from the earlier position


def test_executions_of_other_schedules_are_not_recorded(named):
    execution = Address.of(0xE)
    named.apply(triggered(FIRST, execution), PLACE)
    named.apply(led_by(FIRST, ME), PLACE)
    assert not named.get(FIRST).started
    named.apply(triggered(FIRST, execution), PLACE)
    assert list(named.get(FIRST).started) == [execution]


def test_executions_found_later_are_older(named):
    early, late, both = (Address.of(number) for number in (1, 2, 3))
    named.apply(led_by(FIRST, ME), PLACE)
    for execution in (late, both):
        named.apply(triggered(FIRST, execution), PLACE)
    named.record_starts(named.get(FIRST), [early, late])
    assert list(named.get(FIRST).started) == [early, late, both]
    named.apply(collected(FIRST, late), PLACE)
    assert list(named.get(FIRST).started) == [early, both]


async def test_end_of_an_execution_plans_a_check_of_its_schedule(named):
    for number, schedule in enumerate((FIRST, SECOND)):
        named.apply(led_by(schedule, ME), PLACE)
        named.apply(triggered(schedule, Address.of(number)), PLACE)
    assert await next_due(named) == [FIRST, SECOND]
    named.apply(ended(Address.of(1)), PLACE)
    assert await next_due(named) == [SECOND]


async def test_schedule_is_not_checked_twice_at_once(named):
    named.apply(led_by(FIRST, ME), PLACE)
    (first,) = await named.due()
    named.apply(refilled(FIRST), PLACE)
    named.apply(led_by(SECOND, ME), PLACE)
    assert await next_due(named) == [SECOND]
    named.release(first)
    assert await next_due(named) == [FIRST]


async def test_event_resets_setbacks(named):
    named.apply(led_by(FIRST, ME), PLACE)
    first = named.get(FIRST)
    first.failed_checks = 11
    named.apply(refilled(FIRST), PLACE)
    assert first.failed_checks == 0


def test_schedule_that_names_other_leaders_is_forgotten(named, forgotten):
    named.apply(led_by(FIRST, ME), PLACE)
    named.apply(led_by(FIRST, OTHER), PLACE)
    assert (named.get(FIRST), forgotten) == (None, [FIRST])


async def test_cursor_reset_follows_events_from_its_position(named, forgotten):
    named.apply(led_by(FIRST, ME), PLACE)
    assert await next_due(named) == [FIRST]
    named.apply(moves.ScheduleCursorReset(FIRST, 0), Cursor(9, 0, 0))
    assert (named.get(FIRST).since, forgotten) == (Cursor(9, 0, 0), [FIRST])
    assert await next_due(named) == [FIRST]
    named.apply(moves.ScheduleCursorReset(SECOND, 0), Cursor(9, 0, 0))  # it names another leader
    assert named.get(SECOND) is None


async def test_extended_schedule_is_checked(named):
    named.apply(led_by(FIRST, ME), PLACE)
    assert await next_due(named) == [FIRST]
    named.apply(moves.ScheduleExtended(FIRST, 7, None), PLACE)
    assert await next_due(named) == [FIRST]


@pytest.mark.parametrize(
    ("error", "longest_ms"),
    [
        (None, 3_600_000),
        (KeyError("unforeseen"), 3_600_000),
        (UnreachableError("node_unreachable", "no answer"), 60_000),
        (WrongStateError("not_enough_sui", "no gas"), 60_000),
    ],
)
def test_delays_double_up_to_an_hour_or_a_minute(monkeypatch, error, longest_ms):
    monkeypatch.setattr(random.Random, "random", lambda _: 1.0)
    setbacks = RetryDelays(LeaderConfig(journal="journal.sqlite"))
    pauses = [setbacks.pause_ms(count, error) for count in range(1, 20)]
    assert pauses[-1] == longest_ms
    assert all(b in {2 * a, longest_ms} for a, b in pairwise(pauses))
