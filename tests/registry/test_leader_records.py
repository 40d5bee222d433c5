"""What leaders did, as events tell it, and who is chosen for that."""

from collections import Counter
from random import Random

import pytest

from nexus_tools.client import Cursor
from nexus_tools.package.move.collateral import Collateral
from nexus_tools.package.move.keys import Keys
from nexus_tools.package.move.leader import Leader
from nexus_tools.package.move.owner import Owner
from nexus_tools.package.move.roster import Roster
from nexus_tools.registry import LeaderRecord, choose_leaders, read_records
from nexus_tools.sui.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})
FAILURE = Failure(FailureReason.UNREACHABLE, "")
WINDOW = 5_000 + 15_000
SUI = 1_000_000_000
A, B, C = (Address.of(number) for number in (0xA, 0xB, 0xC))


# --- Records


@pytest.fixture
async def both(leaders, active_leader):
    """Two leaders of one owner."""
    return active_leader, (await leaders.register("second", activate=True))[1]


@pytest.fixture
async def request_by(added, registry, invocations):
    """Requests an invocation by some leaders; gives its id."""
    tool = await registry.get(ADD)

    async def request_by(*named):
        return (await invocations.request(tool, {"a": 1, "b": 2}, leaders=named))[1]

    return request_by


async def test_a_record_counts_what_a_leader_settled_failed_and_missed(
    invocations, closing, request_by, both, chain
):
    first, second = both
    await closing.close(first, {await request_by(first, second): ANSWER})
    await closing.close(first, {await request_by(first): FAILURE})
    late, nobodys = await request_by(first, second), await request_by(second)
    chain.net.advance_clock(WINDOW)
    await closing.close(second, {late: ANSWER})
    await invocations.expire(nobodys)
    await request_by(first)  # nothing has become of it yet
    records = await read_records(invocations)
    counted = {place: (each.settled, each.failed, each.missed) for place, each in records.items()}
    assert counted == {first: (1, 1, 1), second: (1, 0, 1)}


async def test_the_latency_is_the_median_from_request_to_answer(
    invocations, closing, request_by, active_leader, chain
):
    took_ms = []
    for seconds in (4, 1, 2):
        place = await request_by(active_leader)
        requested_at_ms = (await invocations.get(place)).requested_at_ms
        chain.net.advance_clock(seconds * 1_000)
        await closing.close(active_leader, {place: ANSWER})
        state = (await invocations.get(place)).state
        took_ms.append(state.settled_at_ms - requested_at_ms)
    await closing.close(active_leader, {await request_by(active_leader): FAILURE})
    (record,) = (await read_records(invocations)).values()
    assert record.latency_ms == took_ms[2]
    assert took_ms[1] < took_ms[2] < took_ms[0]


async def test_who_settled_nothing_has_no_latency(invocations, closing, request_by, active_leader):
    await closing.close(active_leader, {await request_by(active_leader): FAILURE})
    assert await read_records(invocations) == {active_leader: LeaderRecord(failed=1)}


async def test_a_record_can_begin_behind_a_cursor(
    invocations, closing, request_by, active_leader, user
):
    requested_before = await request_by(active_leader)
    await closing.close(active_leader, {await request_by(active_leader): FAILURE})
    cursor = Cursor.after_checkpoint(await user.latest_checkpoint())
    await closing.close(active_leader, {requested_before: ANSWER})
    # When the settled one was requested is not known from there on.
    assert await read_records(invocations, cursor) == {active_leader: LeaderRecord(settled=1)}


async def test_inputs_that_do_not_fit_are_no_failure_of_the_leader(
    invocations, closing, request_by, active_leader
):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: Failure(FailureReason.INPUT_INVALID, "")})
    assert await read_records(invocations) == {}


async def test_a_deleted_invocation_counts_as_before(
    invocations, closing, request_by, active_leader
):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: ANSWER})
    before = await read_records(invocations)
    await invocations.delete(place)
    assert await read_records(invocations) == before


# --- Reliability


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (LeaderRecord(), 1 / 2),
        (LeaderRecord(settled=1), 2 / 3),
        (LeaderRecord(settled=98), 99 / 100),
        (LeaderRecord(settled=1, failed=1, missed=1), 2 / 5),
        (LeaderRecord(missed=8), 1 / 10),
    ],
)
def test_reliability_is_laplaces_rule_of_succession(record, expected):
    assert record.reliability == pytest.approx(expected)


# --- Choosing


def leader_at(place):
    nothing = Collateral(0, 0, 0, None, 0, None)
    return Leader(place, "", Owner(A, None), True, Roster(()), Keys(()), nothing, 0, 0)


def drawn(leaders, records, times):
    random = Random(7)
    return [choose_leaders([*map(leader_at, leaders)], records, random) for _ in range(times)]


def test_of_no_leaders_none_is_chosen_and_of_one_that_one():
    assert choose_leaders([], {}) == ()
    assert choose_leaders([leader_at(A)], {A: LeaderRecord(missed=100)}) == (A,)


def test_two_different_leaders_are_chosen():
    assert all(len(set(pair)) == 2 for pair in drawn([A, B, C], {}, 1_000))


def test_how_often_a_leader_is_chosen_first_follows_its_reliability():
    records = {A: LeaderRecord(settled=8), B: LeaderRecord(missed=8)}  # 9/10, 1/10; C has 5/10
    first = Counter(pair[0] for pair in drawn([A, B, C], records, 15_000))
    # Standard deviations are sqrt(15 000 p (1 - p)): 60, 30 and 58; five of them are allowed.
    assert first[A] == pytest.approx(9_000, abs=300)
    assert first[B] == pytest.approx(1_000, abs=150)
    assert first[C] == pytest.approx(5_000, abs=290)


def test_who_is_chosen_second_is_drawn_among_the_others():
    records = {A: LeaderRecord(settled=8), B: LeaderRecord(missed=8)}
    second = Counter(pair[1] for pair in drawn([A, B, C], records, 15_000) if pair[0] == A)
    # One sixth B, five sixths C, of about 9 000.
    assert second[B] / second.total() == pytest.approx(1 / 6, abs=0.02)


@pytest.mark.usefixtures("added")
async def test_without_a_list_of_ones_own_two_of_all_active_leaders_are_named(
    invocations, registry, leaders, both
):
    _, third = await leaders.register("third", activate=True)
    await leaders.register("inactive")
    chosen = await invocations.leaders_for(await registry.get(ADD))
    assert len(set(chosen)) == 2
    assert set(chosen) <= {*both, third}
