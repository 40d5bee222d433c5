"""Queries: the same facts as on chain, in pages."""

import pytest

from nexus_tools.contracts import LeaderState, ToolState
from nexus_tools.errors import ValidationError
from nexus_tools.index import Index, IndexedToolFilter, IndexWriter, InvocationOutcome, ToolSort
from nexus_tools.registry import Registration
from nexus_tools.sui.types.address import Address
from tests.index.conftest import ADD, HOUR_MS, PRICED, SUM

pytestmark = pytest.mark.anyio
NOBODY = Address.of(0xABC)


@pytest.fixture
async def written(eventful, new_index, pipeline):
    """Return an index of the eventful history."""
    index = new_index()
    await pipeline(index).catch_up()
    return index


@pytest.fixture
def index(written):
    """Return the index, open for reading."""
    with Index(written.path, written.identity) as index:
        yield index


def names(page):
    return [item.fqn for item in page.items]


async def test_status_counts_rows(index, written, pipeline, eventful):
    client = eventful.clients["user"]
    before = await client.latest_checkpoint()
    await pipeline(written).catch_up()
    status = index.status()
    assert before <= status.checkpoint <= await client.latest_checkpoint()
    assert (status.tools, status.leaders, status.workflows) == (2, 1, 1)
    assert (status.complete_since, status.pending_definitions, status.unknown_events) == (0, 0, 0)
    assert status.package == eventful.deployment.original_id


async def test_tools_are_sorted_and_filtered(index, eventful):
    assert names(index.tools()) == [PRICED, ADD]
    assert names(index.tools(sort=ToolSort.NAME)) == [ADD, PRICED]
    assert names(index.tools(sort=ToolSort.PRICE)) == [ADD, PRICED]
    assert names(index.tools(sort=ToolSort.VOLUME)) == [PRICED, ADD]
    assert names(index.tools(sort=ToolSort.LAST_SEEN)) == [ADD, PRICED]
    assert names(index.tools(sort=ToolSort.REPUTATION)) == [PRICED, ADD]
    owner = eventful.clients["user"].address
    assert names(index.tools(IndexedToolFilter(owner=owner))) == [ADD]
    assert names(index.tools(IndexedToolFilter(owner=NOBODY))) == []
    assert names(index.tools(IndexedToolFilter(state=ToolState.ACTIVE))) == [ADD]
    assert names(index.tools(IndexedToolFilter(max_price_mist=0))) == [ADD]
    assert names(index.tools(IndexedToolFilter(min_price_mist=500))) == [PRICED]
    for sort in ToolSort:
        assert names(index.tools(IndexedToolFilter("xyz.example.math"), sort=sort)) == [ADD]
        assert len(names(index.tools(IndexedToolFilter("xyz.example"), sort=sort))) == 2
        assert names(index.tools(IndexedToolFilter("xyz.exam"), sort=sort)) == []


async def test_pages_of_every_order_contain_each_tool_once(index):
    for sort in ToolSort:
        whole = names(index.tools(sort=sort))
        first = index.tools(sort=sort, limit=1)
        second = index.tools(sort=sort, limit=1, after=first.next)
        assert [*names(first), *names(second)] == whole
        assert second.next is None


@pytest.mark.parametrize("after", ["", "[]", "[1, 2]", "{}", "[null]", '[["a"]]', "[1e999]x"])
async def test_wrong_position_of_a_page_is_refused(index, after):
    with pytest.raises(ValidationError) as caught:
        index.tools(after=after)
    assert caught.value.code == "cursor_invalid"


async def test_position_out_of_range_is_refused(index):
    with pytest.raises(ValidationError) as caught:
        index.tools(after=f"[{10**30}]")
    assert caught.value.code == "cursor_invalid"


async def test_tool_shows_its_performance_for_all_and_for_mine(index, eventful):
    user, admin = (eventful.clients[name].address for name in ("user", "admin"))
    detail = index.tool(PRICED, requesters=[user, NOBODY])
    everything = detail.windows.last_30_days
    assert everything.outcomes == {"settled": 2, "overloaded": 1}
    assert everything.volume_mist == 1_000
    assert everything.requesters == 2
    assert detail.tool.mine.outcomes == {"settled": 1, "overloaded": 1}
    assert detail.tool.mine.volume_mist == 500
    assert detail.leaders == (eventful.leader,)
    assert index.tool(PRICED, requesters=[admin]).tool.mine.outcomes == {"settled": 1}
    assert index.tool(PRICED, requesters=[NOBODY]).tool.mine.outcomes == {}
    assert index.tool(PRICED).tool.mine is None
    assert index.tool("xyz.example.other@1") is None


async def test_windows_end_at_the_newest_event(index):
    windows = index.tool(ADD).windows
    # All but the last closing are more than two days old.
    assert windows.last_24_hours.outcomes == {"settled": 1}
    assert windows.last_24_hours.requesters == 1
    assert windows.last_7_days.outcomes == {"settled": 2, "unreachable": 1, "expired": 1}
    assert windows.last_7_days.requesters == 3
    assert windows.last_30_days == windows.last_7_days


async def test_reputation_counts_the_last_closing_of_each_requester(index):
    # The user's last closing expired, which is not the tool's fault, so the one before counts.
    assert index.tool(ADD).tool.reputation == pytest.approx((2 + 4) / (3 + 8))
    # An overloaded leader is not the tool's fault either.
    assert index.tool(PRICED).tool.reputation == pytest.approx((2 + 4) / (2 + 8))


async def test_leader_record_counts_its_own_failures(index, eventful):
    [leader] = index.leaders().items
    assert leader.id == eventful.leader
    assert leader.state is LeaderState.INACTIVE
    assert leader.record.outcomes == {
        "settled": 4,
        "unreachable": 1,
        "overloaded": 1,
        "missed": 1,
    }
    assert index.leaders(LeaderState.ACTIVE).items == ()
    detail = index.leader(eventful.leader, requesters=[eventful.clients["owner"].address])
    assert detail.leader.mine.outcomes == {"settled": 1}
    assert index.leader(NOBODY) is None


async def test_invocations_are_found_by_account_tool_and_leader(index, eventful):
    user, admin = (eventful.clients[name].address for name in ("user", "admin"))
    tool = (await eventful.tools.get(PRICED)).id
    mine = index.invocations(requester=user)
    requested = [item.requested_at_ms for item in mine.items]
    assert requested == sorted(requested, reverse=True)
    assert [item.outcome for item in index.invocations(requester=user, tool=tool).items] == [
        None,
        "settled",
        "overloaded",
    ]
    assert [item.fqn for item in index.invocations(requester=admin).items] == [ADD, PRICED]
    closed = index.invocations_closed_by(eventful.leader)
    assert len(closed.items) == 6
    assert {item.closed_by for item in closed.items} == {eventful.leader}
    assert index.invocations(requester=NOBODY).items == ()


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (InvocationOutcome.OPEN, {None}),
        (InvocationOutcome.CLOSED, {"settled", "unreachable", "overloaded", "expired"}),
        (InvocationOutcome.SETTLED, {"settled"}),
        (InvocationOutcome.FAILED, {"unreachable", "overloaded"}),
        (InvocationOutcome.EXPIRED, {"expired"}),
    ],
)
async def test_invocations_are_found_by_outcome(index, outcome, expected):
    found = index.invocations(outcome=outcome).items
    assert {item.outcome for item in found} == expected


async def test_invocation_equals_its_events(index, eventful):
    user = eventful.clients["user"].address
    deleted = [item for item in index.invocations(requester=user).items if item.is_deleted]
    assert len(deleted) == 1
    found = index.invocation(deleted[0].id)
    assert found == deleted[0]
    assert (found.fqn, found.outcome, found.price_mist) == (PRICED, "settled", 500)
    assert found.latency_ms == found.closed_at_ms - found.requested_at_ms
    history = await eventful.invocations.history(found.id)
    assert found.requested_at_ms == history.requested.requested_at_ms
    assert found.expires_at_ms == history.requested.expires_at_ms
    assert found.payment_mist == history.requested.payment_mist
    assert found.leaders == (eventful.leader,)
    assert index.invocation(NOBODY) is None


async def test_workflow_activity_is_listed(index, eventful):
    user, owner = (eventful.clients[name].address for name in ("user", "owner"))
    [workflow] = index.workflows().items
    assert (workflow.fqn, workflow.owner) == (SUM, owner)
    assert index.workflows(owner).items == (workflow,)
    assert index.workflows(user).items == ()
    [schedule] = index.schedules(owner=user).items
    assert (schedule.fqn, schedule.executions, schedule.state) == (SUM, 1, "paused")
    scheduled, own = index.executions(owner=user).items
    assert (scheduled.schedule, own.schedule) == (schedule.id, None)
    assert index.executions(schedule=schedule.id).items == (scheduled,)
    [attempt] = index.invocations(execution=own.id).items
    assert (attempt.fqn, attempt.execution) == (ADD, own.id)
    assert own.started_at_ms == attempt.requested_at_ms


async def test_stats_count_all_closings_per_day(index):
    days = index.stats()
    assert sum(day.performance.closed for day in days) == 7
    assert sum(day.performance.volume_mist for day in days) == 1_000
    assert all(day.start_ms % (24 * HOUR_MS) == 0 for day in days)


async def test_tool_texts_continue_after_a_change(index, eventful):
    texts = {text.fqn: text for text in index.tool_texts()}
    assert texts.keys() == {ADD, PRICED}
    assert (texts[ADD].is_listed, texts[PRICED].is_listed) == (True, False)
    assert "result" in texts[ADD].words.split("\n")
    last = max(text.change for text in texts.values())
    assert index.tool_texts(last) == []
    [newest] = index.tool_texts(last - 1)
    assert newest.change == last
    assert [text.change for text in index.tool_texts(limit=1)] == [
        min(t.change for t in texts.values())
    ]


async def test_results_follow_the_writer(index, eventful, written):
    await eventful.tools.register(Registration(eventful.define("xyz.example.new@1")))
    writer = IndexWriter(written, eventful.deployment)
    writer.apply(await eventful.items(writer.cursor))
    assert index.tools().items[0].fqn == "xyz.example.new@1"
    assert index.status().pending_definitions == 1
