"""Pages of invocations, whose cost does not depend on the history of the chain."""

from collections import Counter

import pytest
from grpc import StatusCode

from benchmarks.gateway import Gateway
from nexus_tools.contracts import ports_of
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import NotFoundError
from nexus_tools.registry import Invocations, LeaderRegistry, add_request, quote_mist
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason
from tests.retry_policies import QUICK

INPUTS = {"a": 2, "b": 40}
ANSWER = Answer("ok", {"result": 42})
OUTCOME_BYTES = 64
PER_TRANSACTION = 60
PAGE = 50


@pytest.fixture
async def request_many(chain, priced_tool, active_leader, user):
    """Return a function that requests invocations, many in each transaction."""
    settings = await LeaderRegistry(user, chain.deployment).settings()
    ports = ports_of(INPUTS)
    cost_mist = quote_mist(settings, priced_tool, ports.size(), OUTCOME_BYTES, 1_000)

    async def request_many(client, count):
        ids = []
        while len(ids) < count:
            builder = TransactionBuilder()
            for _ in range(min(PER_TRANSACTION, count - len(ids))):
                add_request(
                    builder,
                    chain.deployment,
                    settings,
                    priced_tool,
                    [active_leader],
                    inputs=ports,
                    max_outcome_bytes=OUTCOME_BYTES,
                    payment_mist=cost_mist,
                )
            sent = await client.execute(builder)
            ids += sent.created_of("invocation", "Invocation")[::-1]
        return ids

    return request_many


@pytest.fixture
async def gateway(chain):
    async with Gateway(chain.net.url).running() as gateway:
        yield gateway


@pytest.fixture
async def reader(chain, gateway):
    """Return the invocations with a client that has no key, behind the gateway."""
    async with SuiClient(gateway.network, retry_policy=QUICK) as client:
        yield Invocations(client, chain.deployment)


async def requests_of(gateway, reading):
    """Return the node's requests for a read, by procedure, and the result of the read."""
    gateway.requests.clear()
    result = await reading
    return Counter(gateway.requests), result


@pytest.fixture
async def closed_one(request_many, user, closing, active_leader):
    """Return an invocation that a leader settled."""
    [invocation] = await request_many(user, 1)
    await closing.close(active_leader, {invocation: ANSWER})
    return invocation


async def test_reads_send_the_same_requests_in_a_longer_history(
    gateway, reader, request_many, invocations, user, owner, closed_one, closing, active_leader
):
    [deleted] = await request_many(user, 1)
    await closing.close(active_leader, {deleted: ANSWER})
    await invocations.delete(deleted)

    async def measure():
        counts = {}
        for name, read in {
            "page": lambda: reader.owned_by(user.address),
            "history": lambda: reader.history(closed_one),
            "deleted": lambda: reader.history(deleted),
            "closing": lambda: reader.closing_event(closed_one),
            "outcome": lambda: reader.outcome(closed_one),
        }.items():
            counts[name], _ = await requests_of(gateway, read())
        return counts

    await request_many(user, 5)
    await request_many(owner, 5)
    short = await measure()
    await request_many(user, 115)
    await request_many(owner, 295)
    assert await measure() == short
    assert short["page"] == {"ListEvents": 1, "BatchGetObjects": 1}
    assert short["history"] == {"GetObject": 2, "GetTransaction": 2}
    assert short["deleted"] == {"GetObject": 1, "ListTransactions": 1}


async def test_closings_send_the_same_requests_in_a_longer_history(
    gateway, reader, request_many, user, owner, closing, active_leader
):
    async def measure():
        ids = await request_many(user, 6)
        await closing.close(active_leader, dict.fromkeys(ids, ANSWER))
        counts, steps = await requests_of(gateway, reader.recent_closings(user.address, 3))
        assert {step.event.invocation for step in steps} <= set(ids)
        assert len(steps) == 3
        return counts

    short = await measure()
    await request_many(owner, 300)
    assert await measure() == short


async def test_page_has_the_newest_of_the_requester_first(
    reader, request_many, user, owner, closing, active_leader
):
    mine = await request_many(user, 3)
    await request_many(owner, 300)
    mine += await request_many(user, 2)
    page = await reader.owned_by(user.address)
    assert {found.id for found in page.items[:2]} == set(mine[3:])
    assert {found.id for found in page.items} == set(mine)
    assert page.next is None
    await closing.close(active_leader, {mine[0]: ANSWER, mine[4]: ANSWER})
    closed = await reader.owned_by(user.address, closed=True)
    pending = await reader.owned_by(user.address, closed=False)
    assert [found.id for found in closed.items] == [mine[4], mine[0]]
    assert {found.id for found in pending.items} == set(mine[1:4])


async def test_pages_have_each_invocation_once(reader, request_many, invocations, user, closing):
    mine = await request_many(user, 120)
    pages, before = [], None
    while not pages or before is not None:
        pages.append(await reader.owned_by(user.address, limit=45, before=before))
        before = pages[-1].next
    assert [len(page.items) for page in pages] == [45, 45, 30]
    ids = [found.id for page in pages for found in page.items]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(mine)


async def test_page_omits_deleted_invocations(reader, request_many, invocations, user, closed_one):
    [pending] = await request_many(user, 1)
    await invocations.delete(closed_one)
    assert [found.id for found in (await reader.owned_by(user.address)).items] == [pending]


async def test_closings_include_deleted_invocations(reader, invocations, user, closed_one):
    await invocations.delete(closed_one)
    [step] = await reader.recent_closings(user.address, 5)
    assert step.event.invocation == closed_one
    assert step.event.variant == "ok"


# --- Nodes without an index


async def test_node_without_an_event_index_lists_invocations(
    gateway, reader, request_many, user, closed_one
):
    gateway.fail("ListEvents", StatusCode.UNIMPLEMENTED, "the index is disabled")
    [pending] = await request_many(user, 1)
    page = await reader.owned_by(user.address)
    assert [found.id for found in page.items] == [pending, closed_one]
    [step] = await reader.recent_closings(user.address, 5)
    assert step.event.invocation == closed_one


async def test_history_of_existing_invocation_needs_no_index(gateway, reader, closed_one):
    for name in ("ListEvents", "ListTransactions"):
        gateway.fail(name, StatusCode.UNIMPLEMENTED, "the index is disabled")
    history = await reader.history(closed_one)
    assert [type(step.event).__name__ for step in history.steps] == [
        "InvocationRequested",
        "InvocationSettled",
    ]


async def test_history_of_deleted_invocation_needs_a_transaction_index(
    gateway, reader, invocations, user, closed_one
):
    gateway.fail("ListTransactions", StatusCode.UNIMPLEMENTED, "the index is disabled")
    await invocations.delete(closed_one)
    with pytest.raises(NotFoundError) as caught:
        await reader.history(closed_one)
    assert caught.value.code == "invocation_unknown"
    assert "does not have a transaction index" in caught.value.hint
    assert await reader.recent_closings(user.address, 5) == ()


async def test_pruned_closing_is_reported_as_missing_history(gateway, reader, closed_one):
    gateway.fail("GetTransaction", StatusCode.NOT_FOUND, "pruned")
    gateway.fail("ListTransactions", StatusCode.UNIMPLEMENTED, "the index is disabled")
    with pytest.raises(NotFoundError) as caught:
        await reader.history(closed_one)
    assert caught.value.code == "history_missing"


async def test_history_comes_from_the_index_when_the_first_version_is_pruned(
    gateway, reader, closed_one
):
    gateway.fail("GetTransaction", StatusCode.NOT_FOUND, "pruned")
    history = await reader.history(closed_one)
    assert [type(step.event).__name__ for step in history.steps] == [
        "InvocationRequested",
        "InvocationSettled",
    ]


# --- Closings that are not in the last transaction


async def test_closing_is_found_behind_a_later_transaction(
    reader, invocations, closing, closed_one, active_leader
):
    """A leader that closes a closed invocation changes only the version of the object."""
    before = await closing.client.object(closed_one)
    await closing.close(active_leader, {closed_one: Failure(FailureReason.TIMED_OUT, "")})
    after = await closing.client.object(closed_one)
    assert before.previous_transaction != after.previous_transaction
    assert (await reader.closing_event(closed_one)).variant == "ok"
    history = await reader.history(closed_one)
    assert [type(step.event).__name__ for step in history.steps] == [
        "InvocationRequested",
        "InvocationSettled",
    ]
    assert history.steps[-1].transaction == before.previous_transaction


async def test_failure_detail_is_found_behind_a_later_transaction(
    reader, closing, request_many, user, active_leader
):
    [invocation] = await request_many(user, 1)
    failure = Failure(FailureReason.HTTP_ERROR, "status 500")
    await closing.close(active_leader, {invocation: failure})
    await closing.close(active_leader, {invocation: failure})
    assert await reader.outcome(invocation) == failure


async def test_history_of_pending_invocation_has_only_its_request(reader, request_many, user):
    [invocation] = await request_many(user, 1)
    history = await reader.history(invocation)
    [step] = history.steps
    assert isinstance(step.event, InvocationRequested)
    assert step.sender == user.address
    assert isinstance((await reader.get(invocation)).state, State.Requested)
    assert await reader.closing_event(invocation) is None
