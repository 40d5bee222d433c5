"""The history of invocations from events, even after their deletion."""

import pytest

from nexus_tools.contracts.move_bindings.invocation import (
    InvocationDeleted,
    InvocationFailed,
    InvocationSettled,
)
from nexus_tools.errors import NotFoundError, ValidationError
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason

INPUTS = {"a": 2, "b": 40}


@pytest.fixture
async def request_one(invocations, priced_tool):
    async def request_one():
        return (await invocations.request(priced_tool, INPUTS))[1]

    return request_one


@pytest.fixture
def close(closing, active_leader):
    async def close(invocation, outcome):
        return await closing.close(active_leader, {invocation: outcome})

    return close


async def test_history_exists_for_deleted_invocation(invocations, request_one, close, leader, user):
    place = await request_one()
    closed = await close(place, Answer("ok", {"result": 42}))
    deleted = await invocations.delete(place)
    history = await invocations.history(place)
    assert history.requested.requester == user.address
    assert history.find(InvocationSettled).variant == "ok"
    assert history.find(InvocationDeleted) is not None
    assert history.find(InvocationFailed) is None
    _, settling, deleting = history.steps
    assert (settling.sender, settling.transaction) == (leader.address, closed.digest)
    assert (deleting.sender, deleting.transaction) == (user.address, deleted.digest)
    assert settling.at_ms <= deleting.at_ms


async def test_history_raises_for_unknown_invocation(invocations):
    with pytest.raises(NotFoundError) as caught:
        await invocations.history(Address.of(2**40))
    assert caught.value.code == "invocation_unknown"
    assert "network show" in caught.value.hint


async def test_history_raises_for_another_object(invocations, priced_tool):
    with pytest.raises(ValidationError) as caught:
        await invocations.history(priced_tool.id)
    assert caught.value.code == "object_of_another_type"


async def test_closings_returns_latest_first(invocations, request_one, close, user, owner):
    places = [await request_one() for _ in range(3)]
    for place in places[:2]:
        await close(place, Failure(FailureReason.UNREACHABLE, ""))
    await close(places[2], Answer("ok", {"result": 42}))
    last = await invocations.recent_closings(user.address, 2)
    assert [step.event.invocation for step in last] == [places[2], places[1]]
    assert await invocations.recent_closings(owner.address, 2) == ()
