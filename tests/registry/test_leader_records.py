"""Track records of leaders from events, and the choice of leaders by them."""

from collections import Counter
from random import Random

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from nexus_tools.contracts.move_bindings.collateral import Collateral
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.keys import Keys
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.owner import Owner
from nexus_tools.contracts.move_bindings.roster import Roster
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.registry import (
    Invocations,
    LeaderHistories,
    LeaderRecord,
    LeaderRegistry,
    choose_leaders,
    read_histories,
)
from nexus_tools.registry.leaders import closings, records
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, ToolFqn
from tests.retry_policies import QUICK

ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})
REFUSED = Failure(FailureReason.REFUSED, "")
WINDOW = 5_000 + 15_000
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


async def read(package, *ids, **options):
    """Return the histories of leaders by their IDs."""
    return await read_histories(package, await package.find_all(ids, Leader), **options)


async def record_of(package, leader, **options):
    return (await read(package, leader, **options)).records.get(leader)


async def test_record_counts_closings_and_the_callers_missed_invocations(
    invocations, closing, request_by, both, requesters, chain
):
    first, second = both
    ask, other = requesters
    await closing.close(first, {await request_by(first, second): ANSWER})
    await closing.close(first, {await request_by(first, requester=ask): REFUSED})
    late = await request_by(first, second, requester=other)
    expired = await request_by(second)
    chain.net.advance_clock(WINDOW)
    await closing.close(second, {late: ANSWER})
    await invocations.expire(expired)
    await request_by(first)  # it stays open

    async def counted(package):
        records = (await read(package, first, second)).records
        return {
            leader: (record.settled, record.failed, record.missed)
            for leader, record in records.items()
        }

    assert await counted(invocations) == {first: (1, 1, 0), second: (1, 0, 1)}
    assert await counted(other) == {first: (1, 1, 1), second: (1, 0, 0)}
    assert await counted(ask) == {first: (1, 1, 0), second: (1, 0, 0)}
    records = (await read(ask, first, second, caller=other.client.address)).records
    assert records[first].missed == 1


async def test_requester_and_tool_pair_counts_once_by_latest_closing(
    closing, request_by, active_leader, invocations
):
    for outcome in (REFUSED, REFUSED, ANSWER, ANSWER):
        await closing.close(active_leader, {await request_by(active_leader): outcome})
    record = await record_of(invocations, active_leader)
    assert (record.settled, record.failed) == (1, 0)
    await closing.close(active_leader, {await request_by(active_leader): REFUSED})
    record = await record_of(invocations, active_leader)
    assert (record.settled, record.failed) == (0, 1)


async def test_tool_has_one_vote_for_any_number_of_callers(
    closing, request_by, requesters, active_leader, invocations
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    for requester in requesters:
        place = await request_by(active_leader, requester=requester)
        await closing.close(active_leader, {place: REFUSED})
    record = await record_of(invocations, active_leader)
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
    record = await record_of(invocations, active_leader)
    assert record.latency_ms == took_ms[2]
    assert took_ms[1] < took_ms[2] < took_ms[0]


async def test_leader_that_settled_nothing_has_no_latency(
    invocations, closing, request_by, active_leader
):
    await closing.close(active_leader, {await request_by(active_leader): REFUSED})
    record = await record_of(invocations, active_leader)
    assert (record.failed, record.latency_ms) == (1, None)


@pytest.mark.parametrize(
    "reason",
    [reason for reason in FailureReason if reason not in {"refused", "overloaded", "expired"}],
)
async def test_failure_of_tool_or_requester_does_not_count(
    invocations, closing, request_by, active_leader, reason
):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: Failure(reason, "")})
    histories = await read(invocations, active_leader)
    assert (histories.records, histories.own_reliability, histories.closings) == ({}, {}, 0)


@pytest.mark.parametrize("reason", [FailureReason.REFUSED, FailureReason.OVERLOADED])
async def test_failure_of_the_leader_counts(
    invocations, closing, request_by, active_leader, reason
):
    place = await request_by(active_leader)
    await closing.close(active_leader, {place: Failure(reason, "")})
    histories = await read(invocations, active_leader)
    assert histories.records[active_leader].failed == 1
    assert histories.own_reliability == {active_leader: pytest.approx(1 / 3)}


async def test_deleted_invocation_still_counts(
    invocations, closing, request_by, both, chain, monkeypatch
):
    first, second = both
    settled, refused = await request_by(first), await request_by(first)
    await closing.close(first, {settled: ANSWER, refused: REFUSED})
    late, expired = await request_by(first, second), await request_by(first)
    chain.net.advance_clock(WINDOW)
    await closing.close(second, {late: ANSWER})
    await invocations.expire(expired)
    before = await read(invocations, first, second)
    # The first leader settled one of four invocations, and the second leader settled its only one.
    assert before.own_reliability == {
        first: pytest.approx((1 + 1) / (4 + 2)),
        second: pytest.approx((1 + 1) / (1 + 2)),
    }
    await invocations.delete(settled, refused, late, expired)
    assert await read(invocations, first, second) == before

    async def no_closings(*_):
        return ()

    # Other requests may have displaced the closings of the leaders. Then a deleted failure is
    # unknown, so the first leader settled one of three invocations.
    monkeypatch.setattr(records, "read_closings", no_closings)
    assert (await read(invocations, first, second)).own_reliability == {
        first: pytest.approx((1 + 1) / (3 + 2)),
        second: before.own_reliability[second],
    }


def test_question_that_anyone_can_close_is_no_missed_invocation():
    terms = (A, B, "xyz.example.math.add@1", C, (A,), 0, 1, 2, 0, 0, 0)
    open_to_all = InvocationRequested(*terms, Settlement.Call(closable_by_anyone=True), 1, None)
    by_leaders = InvocationRequested(*terms, Settlement.Leader(), 1, None)
    assert not closings.is_own_request(open_to_all)
    assert closings.is_own_request(by_leaders)


# --- Workers


async def test_record_counts_closings_of_all_workers(
    invocations, closing, request_by, leaders, active_leader, requesters, owner
):
    await leaders.add_worker(active_leader, owner.address)
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    place = await request_by(active_leader, requester=requesters[1])
    await requesters[0].close(active_leader, {place: ANSWER})
    assert (await record_of(invocations, active_leader)).settled == 2
    await leaders.remove_worker(active_leader, owner.address)
    assert (await record_of(invocations, active_leader)).settled == 1


async def test_leader_with_workers_of_another_leader_does_not_get_its_record(
    invocations, closing, request_by, active_leader, leader, user, chain
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    workers = [leader.address, user.address]
    _, thief = await LeaderRegistry(user, chain.deployment).register("thief", workers=workers)
    assert await record_of(invocations, thief) is None


async def test_leader_without_workers_has_no_record(
    invocations, closing, request_by, leaders, active_leader, leader
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    await leaders.remove_worker(active_leader, leader.address)
    histories = await read(invocations, active_leader, caller=A)
    assert histories == LeaderHistories()


# --- Bounds


async def test_only_the_newest_closings_count(
    invocations, closing, request_by, requesters, active_leader, monkeypatch
):
    monkeypatch.setattr(closings, "MAX_CLOSINGS", 2)
    for requester in (None, *requesters):
        place = await request_by(active_leader, requester=requester)
        await closing.close(active_leader, {place: ANSWER})
        await closing.close(active_leader, {await request_by(active_leader): REFUSED})
    record = await record_of(invocations, active_leader)
    # The two newest answers are for the other requesters, and the newest failure is for the user.
    assert (record.settled, record.failed) == (2, 1)


async def test_failures_do_not_displace_answers(
    invocations, closing, request_by, requesters, active_leader, monkeypatch
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    before = await record_of(invocations, active_leader)
    monkeypatch.setattr(closings, "MAX_CLOSINGS", 2)
    for _ in range(3):
        place = await request_by(active_leader, requester=requesters[0])
        await closing.close(active_leader, {place: Failure(FailureReason.UNREACHABLE, "")})
    assert await record_of(invocations, active_leader) == before


async def test_closings_that_are_not_read_in_time_are_unknown(
    invocations, closing, request_by, active_leader
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    assert await read(invocations, active_leader, limit_s=0) == LeaderHistories(unread=1)


@pytest.mark.parametrize("status", [StatusCode.PERMISSION_DENIED, StatusCode.UNIMPLEMENTED])
async def test_closings_are_unknown_if_the_node_does_not_list_events(
    invocations, closing, request_by, active_leader, chain, status
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    found = await invocations.find_all([active_leader], Leader)
    async with Gateway(chain.net.url).running() as gateway:
        gateway.fail("ListEvents", status, "no")
        async with SuiClient(gateway.network, retry_policy=QUICK) as client:
            reader = Invocations(client, chain.deployment)
            gateway.requests.clear()
            assert await read_histories(reader, found, A) == LeaderHistories(unread=1)
            # The first refusal may end the other two reads before they are sent.
            assert set(gateway.requests) == {"ListEvents"}
            assert len(gateway.requests) <= 3


async def test_reader_sends_no_requests_again_within_a_minute(
    invocations, closing, request_by, both, requests, monkeypatch
):
    first, second = both
    await closing.close(first, {await request_by(first): ANSWER})
    reader = records.RecordReader(invocations)
    found = await invocations.find_all([first], Leader)
    before = await reader.read(found)
    requests.clear()
    assert await reader.read(found) == before
    assert requests == {}
    await reader.read(await invocations.find_all([first, second], Leader))
    assert requests == {"BatchGetObjects": 1, "ListEvents": 2}  # only those of the second leader
    monkeypatch.setattr(records, "CACHE_S", 0)
    requests.clear()
    assert await reader.read(found) == before
    assert requests["ListEvents"] == 3


async def test_reader_does_not_keep_what_it_could_not_read(
    invocations, closing, request_by, active_leader
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    reader = records.RecordReader(invocations)
    found = await invocations.find_all([active_leader], Leader)
    assert await reader.read(found, limit_s=0) == LeaderHistories(unread=1)
    assert (await reader.read(found)).records[active_leader].settled == 1


# --- The caller's own history


async def test_own_history_counts_only_closings_of_the_caller(
    invocations, closing, request_by, requesters, active_leader
):
    for outcome in (ANSWER, ANSWER, REFUSED):
        await closing.close(active_leader, {await request_by(active_leader): outcome})
    place = await request_by(active_leader, requester=requesters[0])
    await closing.close(active_leader, {place: REFUSED})
    histories = await read(invocations, active_leader)
    assert histories.own_reliability == {active_leader: pytest.approx((2 + 1) / (3 + 2))}


async def test_own_history_survives_a_flood_of_the_leader_by_others(
    invocations, closing, request_by, requesters, active_leader, monkeypatch
):
    monkeypatch.setattr(closings, "MAX_CLOSINGS", 3)
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    for _ in range(4):
        place = await request_by(active_leader, requester=requesters[0])
        await closing.close(active_leader, {place: ANSWER})
    histories = await read(invocations, active_leader)
    assert histories.own_reliability == {active_leader: pytest.approx((1 + 1) / (1 + 2))}


async def test_reader_without_a_key_has_no_own_history(
    invocations, closing, request_by, active_leader, chain
):
    await closing.close(active_leader, {await request_by(active_leader): ANSWER})
    async with SuiClient(chain.net.network) as client:
        histories = await read(Invocations(client, chain.deployment), active_leader)
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
