"""The random choice of leaders, whose cost does not depend on the number of leaders."""

import asyncio
from collections import Counter
from random import Random

import pytest

from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.errors import WrongStateError
from nexus_tools.registry import (
    Executions,
    Invocations,
    LeaderChoice,
    Registration,
    choose_leaders,
)
from nexus_tools.registry.leaders import records, selection
from nexus_tools.registry.leaders.selection import LeaderSelection
from nexus_tools.tool import Answer, Failure, FailureReason, ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")
ANSWER = Answer("ok", {"result": 3})


@pytest.fixture(autouse=True)
def no_time_limit(monkeypatch):
    """The machine may be slow, and the choice must not depend on this."""
    monkeypatch.setattr(selection, "READ_LIMIT_S", 60)


@pytest.fixture
def compared(monkeypatch):
    """Return a list of the candidates of each draw, and make the draws repeatable."""
    draws, random = [], Random(5)

    def noted(candidates, histories):
        draws.append([candidate.id for candidate in candidates])
        return choose_leaders(candidates, histories, random)

    monkeypatch.setattr(selection, "SystemRandom", lambda: random)
    monkeypatch.setattr(selection, "choose_leaders", noted)
    return draws


@pytest.fixture
async def tool(registry, added):
    """Return a tool that accepts any leader."""
    return await registry.get(ADD)


async def test_choice_names_two_of_all_active_leaders(
    invocations, tool, leaders, active_leader, register_leaders, leader
):
    more = await register_leaders(leader, 2)
    await leaders.register("inactive")
    choice = await invocations.choose_leaders(tool)
    assert len(set(choice.leaders)) == 2
    assert set(choice.leaders) <= {active_leader, *more}
    assert (choice.candidates, choice.closings) == (3, 0)


async def test_choice_of_the_only_leader_reads_no_closings(
    invocations, tool, active_leader, requests
):
    requests.clear()
    choice = await invocations.choose_leaders(tool)
    assert choice == LeaderChoice((active_leader,), candidates=1)
    assert requests == {"GetObject": 1, "BatchGetObjects": 1}


async def test_choice_counts_the_closings_that_it_used(
    invocations, tool, closing, active_leader, register_leaders, leader
):
    _, invocation = await invocations.request(tool, {"a": 1, "b": 2}, leaders=[active_leader])
    await closing.close(active_leader, {invocation: ANSWER})
    await register_leaders(leader, 1)
    choice = await invocations.choose_leaders(tool)
    assert (choice.candidates, choice.closings) == (2, 1)


async def test_named_leaders_are_no_random_choice(invocations, tool, active_leader):
    choice = await invocations.choose_leaders(tool, [active_leader])
    assert choice == LeaderChoice((active_leader,), candidates=0, closings=0)


async def test_choice_sends_as_many_requests_for_150_leaders_as_for_50(
    chain, tool, register_leaders, leader, user, requests
):
    async def measure():
        requests.clear()
        choice = await LeaderSelection(leader_service).draw()
        assert choice.candidates == 16
        return dict(requests)

    leader_service = Executions(user, chain.deployment)
    await register_leaders(leader, 50)
    few = await measure()
    await register_leaders(leader, 100)
    # One request for the registry, and one for 50 of its leaders. Then two for each candidate, and
    # one for the own requests.
    assert await measure() == few == {"GetObject": 1, "BatchGetObjects": 1, "ListEvents": 33}


async def test_candidates_are_drawn_uniformly_from_the_registry(
    invocations, register_leaders, leader, compared
):
    registered = await register_leaders(leader, 24)
    for _ in range(60):
        await LeaderSelection(invocations).draw()
    assert all(len(set(candidates)) == 16 for candidates in compared)
    drawn = Counter(candidate for candidates in compared for candidate in candidates)
    # Each leader is expected in 40 of 60 draws, with a standard deviation of 3.7.
    assert set(drawn) == set(registered)
    assert all(abs(times - 40) <= 5 * 3.7 for times in drawn.values())


@pytest.mark.usefixtures("tool")
async def test_draw_continues_until_it_finds_usable_leaders(
    invocations, register_leaders, leader, active_leader
):
    """An attacker cannot hide an active leader among 150 inactive ones."""
    await register_leaders(leader, 150, active=False)
    choice = await LeaderSelection(invocations).draw()
    assert choice.leaders == (active_leader,)


async def test_choice_fails_after_drawing_only_inactive_leaders(
    invocations, tool, register_leaders, leader, monkeypatch, requests
):
    monkeypatch.setattr(selection, "MAX_DRAWN", 60)
    await register_leaders(leader, 70, active=False)
    requests.clear()
    with pytest.raises(WrongStateError) as caught:
        await invocations.choose_leaders(tool)
    assert caught.value.code == "no_leader"
    assert requests == {"GetObject": 1, "BatchGetObjects": 2, "ListEvents": 1}


async def test_leader_without_a_worker_is_not_drawn(
    invocations, tool, leaders, active_leader, register_leaders, leader
):
    [other] = await register_leaders(leader, 1)
    await leaders.remove_worker(other, leader.address)
    assert (await invocations.choose_leaders(tool)).leaders == (active_leader,)
    assert (await invocations.choose_leaders(tool, [other])).leaders == (other,)


async def test_choice_is_limited_to_the_leaders_that_the_tool_lists(
    registry, invocations, define, register_leaders, leader
):
    listed = await register_leaders(leader, 3)
    await register_leaders(leader, 20)
    await registry.register(Registration(define(), price_mist=1, leaders=tuple(listed)))
    choice = await invocations.choose_leaders(await registry.get(ADD))
    assert choice.candidates == 3
    assert set(choice.leaders) < set(listed)


async def test_choice_is_made_without_records_if_the_time_is_over(
    invocations, tool, closing, active_leader, register_leaders, leader, monkeypatch
):
    _, invocation = await invocations.request(tool, {"a": 1, "b": 2}, leaders=[active_leader])
    await closing.close(active_leader, {invocation: ANSWER})
    await register_leaders(leader, 1)
    monkeypatch.setattr(selection, "READ_LIMIT_S", 0)
    choice = await invocations.choose_leaders(tool)
    assert (choice.candidates, choice.closings, choice.unread) == (2, 0, 2)
    assert len(choice.leaders) == 2


async def test_second_choice_reads_no_closings_again(
    invocations, tool, register_leaders, leader, requests
):
    await register_leaders(leader, 3)
    await invocations.choose_leaders(tool)
    requests.clear()
    await invocations.choose_leaders(tool)
    assert requests == {"GetObject": 1, "BatchGetObjects": 1}


async def test_leader_that_was_deactivated_is_not_drawn_again(
    invocations, tool, leaders, register_leaders, leader
):
    first, second = await register_leaders(leader, 2)
    await invocations.choose_leaders(tool)
    await leaders.deactivate(first)
    assert (await invocations.choose_leaders(tool)).leaders == (second,)


# --- Leaders that the caller knows


@pytest.fixture
def answer(tool, closing):
    """Return a function that requests one invocation of each leader, which the leader closes."""

    async def answer(requester, *leader_ids, outcome=ANSWER):
        for leader in leader_ids:
            _, invocation = await requester.request(tool, {"a": 1, "b": 2}, leaders=[leader])
            await closing.close(leader, {invocation: outcome})

    return answer


async def test_leaders_that_answered_the_newest_own_requests_are_candidates(
    invocations, register_leaders, leader, answer, compared
):
    registered = await register_leaders(leader, 150)
    known = registered[:6]
    await answer(invocations, *known, known[2])
    choice = await LeaderSelection(invocations).draw()
    [candidates] = compared
    assert candidates[:4] == [known[2], known[5], known[4], known[3]]
    assert len(set(candidates)) == choice.candidates == 20
    assert set(candidates) < set(registered)


async def test_known_leader_must_be_usable_and_have_answered(
    invocations, leaders, register_leaders, leader, answer, compared
):
    known = (await register_leaders(leader, 100))[:4]
    inactive, idle, refusing, usable = known
    await answer(invocations, inactive, idle, usable)
    await answer(invocations, refusing, outcome=Failure(FailureReason.REFUSED, ""))
    await leaders.deactivate(inactive)
    await leaders.remove_worker(idle, leader.address)
    await LeaderSelection(invocations).draw()
    [candidates] = compared
    assert candidates[0] == usable
    assert not {inactive, idle} & set(candidates)
    assert len(candidates) == 17


async def test_known_leader_must_be_on_the_list_of_the_tool(
    invocations, register_leaders, leader, answer, compared
):
    listed, unlisted, *more = await register_leaders(leader, 25)
    await answer(invocations, listed, unlisted)
    for _ in range(5):
        await LeaderSelection(invocations).draw([listed, *more])
    assert all(candidates[0] == listed for candidates in compared)
    assert all(unlisted not in candidates for candidates in compared)


async def test_requests_of_others_do_not_make_a_leader_known(
    chain, owner, invocations, register_leaders, leader, answer, compared
):
    """An attacker who requests and answers invocations gets no place among the candidates."""
    known, attacker, *_ = await register_leaders(leader, 100)
    await answer(invocations, known)
    await answer(Invocations(owner, chain.deployment), *[attacker] * 5)
    for _ in range(10):
        await LeaderSelection(invocations).draw()
    assert [candidates[0] for candidates in compared] == [known] * 10
    assert all(len(candidates) == 17 for candidates in compared)


async def test_known_leader_is_found_among_many_inactive_leaders(
    invocations, register_leaders, leader, answer, monkeypatch
):
    """An attacker that registers inactive leaders cannot prevent the choice of a known leader."""
    [known] = await register_leaders(leader, 1)
    await answer(invocations, known)
    await register_leaders(leader, 70, active=False)
    monkeypatch.setattr(selection, "MAX_DRAWN", 20)
    assert (await LeaderSelection(invocations).draw()).leaders == (known,)


async def test_choice_has_only_random_candidates_if_own_requests_are_not_read_in_time(
    invocations, register_leaders, leader, answer, monkeypatch
):
    known, *_ = await register_leaders(leader, 30)
    await answer(invocations, known)
    monkeypatch.setattr(selection, "READ_LIMIT_S", 0)
    choice = await LeaderSelection(invocations).draw()
    assert (choice.candidates, choice.closings, choice.unread) == (16, 0, 16)
    assert len(choice.leaders) == 2


async def test_choice_does_not_wait_for_own_requests_that_never_arrive(
    invocations, register_leaders, leader, answer, monkeypatch
):
    async def never(*_):
        await asyncio.Event().wait()

    known, *_ = await register_leaders(leader, 30)
    await answer(invocations, known)
    monkeypatch.setattr(records, "read_own_closings", never)
    monkeypatch.setattr(selection, "READ_LIMIT_S", 0.02)
    choice = await LeaderSelection(invocations).draw()
    assert (choice.candidates, len(choice.leaders)) == (16, 2)


async def test_own_requests_are_read_once_for_a_choice(
    invocations, register_leaders, leader, answer, requests
):
    known, *_ = await register_leaders(leader, 30)
    await answer(invocations, known)
    requests.clear()
    await LeaderSelection(invocations).draw()
    # One batch each for the own invocations, the known leaders and the random leaders. Two lists of
    # events for each of 17 candidates, and one for the own requests.
    assert requests == {"GetObject": 1, "BatchGetObjects": 3, "ListEvents": 35}


# --- Workflows


async def test_workflow_leaders_are_on_the_lists_of_all_tools(
    chain, user, registry, define, register_leaders, leader
):
    first, second, third = await register_leaders(leader, 3)
    await registry.register(
        Registration(define(), price_mist=1, leaders=(first, second)),
        Registration(define("xyz.example.math.sub@1"), price_mist=1, leaders=(second, third)),
        Registration(define("xyz.example.math.open@1")),
    )
    names = "xyz.example.math.add@1", "xyz.example.math.sub@1", "xyz.example.math.open@1"
    tools = {name: await registry.get(name) for name in names}
    resolver = Executions(user, chain.deployment)._consent
    assert (await resolver.choose_leaders(tools)).leaders == (second,)


async def test_workflow_leaders_are_on_any_list_if_no_leader_is_on_all(
    chain, user, registry, define, register_leaders, leader
):
    first, second, _ = await register_leaders(leader, 3)
    await registry.register(
        Registration(define(), price_mist=1, leaders=(first,)),
        Registration(define("xyz.example.math.sub@1"), price_mist=1, leaders=(second,)),
    )
    tools = {name: await registry.get(name) for name in (str(ADD), "xyz.example.math.sub@1")}
    resolver = Executions(user, chain.deployment)._consent
    choice = await resolver.choose_leaders(tools)
    assert set(choice.leaders) == {first, second}
    found = await resolver.find_all(choice.leaders, Leader)
    assert all(leader.is_active for leader in found)
