"""Track records of leaders from events, and the choice of leaders by them."""

from collections import Counter
from random import Random

import pytest

from nexus_tools.contracts.move_bindings.collateral import Collateral
from nexus_tools.contracts.move_bindings.keys import Keys
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.owner import Owner
from nexus_tools.contracts.move_bindings.roster import Roster
from nexus_tools.registry import (
    Invocations,
    LeaderHistories,
    LeaderRecord,
    choose_leaders,
    read_histories,
    read_records,
)
from nexus_tools.sui.client import Cursor, SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})
REFUSED = Failure(FailureReason.REFUSED, "")
WINDOW = 5_000 + 15_000
SUI = 1_000_000_000
A, B, C = (Address.of(number) for number in (0xA, 0xB, 0xC))


# --- Records


@pytest.fixture
async def both(leaders, active_leader):
    """Return two leaders of one owner."""
    return active_leader, (await leaders.register("second", activate=True))[1]


@pytest.fixture
def requesters(owner, admin, chain):
    """Return the invocations with the wallets of two other requesters."""
    return [Invocations(client, chain.deployment) for client in (owner, admin)]


@pytest.fixture
async def request_by(added, registry, invocations):
    """Return a function that requests an invocation by some leaders, for any requester."""
    tool = await registry.get(ADD)

    async def request_by(*leader_ids, requester=None):
        verbs = requester or invocations
        return (await verbs.request(tool, {"a": 1, "b": 2}, leaders=leader_ids))[1]

    return request_by


async def test_record_counts_own_failures_and_missed_invocations(
    invocations, closing, request_by, both, requesters, chain
):
    first, second = both
    ask, other = requesters
    await closing.close(first, {await request_by(first, second): ANSWER})
    await closing.close(first, {await request_by(first, requester=ask): REFUSED})
    late = await request_by(first, second, requester=other)
    nobodys = await request_by(second, requester=ask)
    chain.net.advance_clock(WINDOW)
    await closing.close(second, {late: ANSWER})
    await invocations.expire(nobodys)
    await request_by(first)  # it stays open
    records = await read_records(invocations)
    counted = {
        place: (record.settled, record.failed, record.missed) for place, record in records.items()
    }
    assert counted == {first: (1, 1, 1), second: (1, 0, 1)}


async def test_requester_and_tool_pair_counts_once_by_latest_closing(
    closing, request_by, active_leader, invocations
):
    for outcome in (REFUSED, REFUSED, ANSWER, ANSWER):
        await closing.close(active_leader, {await request_by(active_leader): outcome})
    record = (await read_records(invocations))[active_leader]
    assert (record.settled, record.failed) == (1, 0)
    await closing.close(active_leader, {await request_by(active_leader): REFUSED})
    record = (await read_records(invocations))[active_leader]
    assert (record.settled, record.failed) == (0, 1)


async def test_tool_has_one_vote_for_any_number_of_callers(
    closing, request_by, requesters, active_leader, invocations
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    for requester in requesters:
        place = await request_by(active_leader, requester=requester)
        await closing.close(active_leader, {place: REFUSED})
    record = (await read_records(invocations))[active_leader]
    assert (record.settled, record.failed) == (1, 2)
    assert record.reliability == pytest.approx((1 / 3 + 4) / (1 + 8))


async def test_latency_is_the_median_over_pairs(
    invocations, closing, request_by, requesters, active_leader, chain
):
    took_ms = []
    for seconds, requester in zip((4, 1, 2), (None, *requesters), strict=True):
        place = await request_by(active_leader, requester=requester)
        requested_at_ms = (await invocations.get(place)).requested_at_ms
        chain.net.advance_clock(seconds * 1_000)
        await closing.close(active_leader, {place: ANSWER})
        state = (await invocations.get(place)).state
        took_ms.append(state.settled_at_ms - requested_at_ms)
    (record,) = (await read_records(invocations)).values()
    assert record.latency_ms == took_ms[2]
    assert took_ms[1] < took_ms[2] < took_ms[0]


async def test_leader_that_settled_nothing_has_no_latency(
    invocations, closing, request_by, active_leader
):
    await closing.close(active_leader, {await request_by(active_leader): REFUSED})
    record = (await read_records(invocations))[active_leader]
    assert (record.failed, record.latency_ms) == (1, None)


async def test_record_can_begin_after_a_cursor(
    invocations, closing, request_by, active_leader, user
):
    requested_before = await request_by(active_leader)
    await closing.close(active_leader, {await request_by(active_leader): REFUSED})
    cursor = Cursor.after_checkpoint(await user.latest_checkpoint())
    await closing.close(active_leader, {requested_before: ANSWER})
    # The request of the settled invocation is before the cursor, so its time is unknown.
    record = (await read_records(invocations, cursor))[active_leader]
    assert (record.settled, record.failed, record.latency_ms) == (1, 0, None)


@pytest.mark.parametrize(
    "reason",
    [reason for reason in FailureReason if reason not in {"refused", "overloaded", "expired"}],
)
async def test_failure_of_tool_or_requester_does_not_count(
    invocations, closing, request_by, active_leader, reason
):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: Failure(reason, "")})
    assert await read_records(invocations) == {}


@pytest.mark.parametrize("reason", [FailureReason.REFUSED, FailureReason.OVERLOADED])
async def test_failure_of_the_leader_counts(
    invocations, closing, request_by, active_leader, reason
):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: Failure(reason, "")})
    assert (await read_records(invocations))[active_leader].failed == 1


async def test_deleted_invocation_still_counts(invocations, closing, request_by, active_leader):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: ANSWER})
    before = await read_records(invocations)
    await invocations.delete(place)
    assert await read_records(invocations) == before


# --- The caller's own history


async def test_own_history_counts_only_closings_of_the_caller(
    invocations, closing, request_by, requesters, active_leader
):
    for outcome in (ANSWER, ANSWER, REFUSED):
        await closing.close(active_leader, {await request_by(active_leader): outcome})
    place = await request_by(active_leader, requester=requesters[0])
    await closing.close(active_leader, {place: REFUSED})
    histories = await read_histories(invocations)
    assert histories.own_reliability == {active_leader: pytest.approx((2 + 1) / (3 + 2))}
    assert histories.records == await read_records(invocations)


async def test_reader_without_a_key_has_no_own_history(
    invocations, closing, request_by, active_leader, chain
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    async with SuiClient(chain.net.network) as client:
        histories = await read_histories(Invocations(client, chain.deployment))
    assert histories.own_reliability == {}
    assert histories.records[active_leader].settled == 1


# --- Choice


def leader_at(place):
    nothing = Collateral(0, 0, 0, None, 0, None)
    return Leader(place, "", Owner(A, None), True, Roster(()), Keys(()), nothing, 0, 0)


def drawn(leaders, histories, times):
    random = Random(7)
    return [choose_leaders([*map(leader_at, leaders)], histories, random) for _ in range(times)]


def reliable(**shares):
    """Return the records of leaders with these reliabilities."""
    places = {"a": A, "b": B, "c": C}
    return {places[name]: LeaderRecord(reliability=share) for name, share in shares.items()}


def test_choose_leaders_returns_all_if_fewer_than_two():
    assert choose_leaders([], LeaderHistories()) == ()
    assert choose_leaders([leader_at(A)], LeaderHistories(reliable(a=0))) == (A,)


def test_choose_leaders_draws_two_different_ones():
    assert all(len(set(pair)) == 2 for pair in drawn([A, B, C], LeaderHistories(), 1_000))


def test_first_leader_follows_the_records_between_a_quarter_and_one():
    histories = LeaderHistories(reliable(a=1, b=0))  # weights 1, 1/4, and 5/8 for the unknown C
    first = Counter(pair[0] for pair in drawn([A, B, C], histories, 15_000))
    # The weights add up to 15/8, so 8 000, 2 000 and 5 000 draws are expected. Standard deviations
    # are 61, 42 and 58. The test allows five of them.
    assert first[A] == pytest.approx(8_000, abs=305)
    assert first[B] == pytest.approx(2_000, abs=210)
    assert first[C] == pytest.approx(5_000, abs=290)


def test_second_leader_is_drawn_among_the_others():
    second = Counter(
        pair[1]
        for pair in drawn([A, B, C], LeaderHistories(reliable(a=1, b=0)), 15_000)
        if pair[0] == A
    )
    # B with 2/7 and C with 5/7, of about 8 000 draws.
    assert second[B] / second.total() == pytest.approx(2 / 7, abs=0.026)


def test_own_history_outweighs_the_records():
    histories = LeaderHistories(
        reliable(a=1, b=0, c=1), own_reliability={A: 0.1, B: 0.9}
    )  # weights 0.2, 1.8 and 1
    first = Counter(pair[0] for pair in drawn([A, B, C], histories, 15_000))
    # Standard deviations are 31, 59 and 57. The test allows five of them.
    assert first[A] == pytest.approx(1_000, abs=155)
    assert first[B] == pytest.approx(9_000, abs=300)
    assert first[C] == pytest.approx(5_000, abs=290)


@pytest.mark.usefixtures("added")
async def test_request_names_two_of_all_active_leaders_by_default(
    invocations, registry, leaders, both
):
    _, third = await leaders.register("third", activate=True)
    await leaders.register("inactive")
    leader_ids = await invocations.choose_leaders(await registry.get(ADD))
    assert len(set(leader_ids)) == 2
    assert set(leader_ids) <= {*both, third}
