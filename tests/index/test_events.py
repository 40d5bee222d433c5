"""Unknown and hostile events."""

from contextlib import closing

import pytest
from msgspec.structs import replace

from nexus_tools.contracts.move_bindings.tool import ToolUpdated
from nexus_tools.index import Index, IndexIdentity, IndexWriter, ToolSort, open_reader, open_writer
from nexus_tools.index import writer as writer_module
from nexus_tools.sui.client import Mark
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import StructTag
from tests.index.conftest import read_rows, rows_of
from tests.index.synthetic import DEPLOYMENT, Events, object_id

IDENTITY = IndexIdentity.of(DEPLOYMENT)
LARGEST = 2**64 - 1


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def opened(tmp_path):
    index = open_writer(tmp_path / "index.sqlite", IDENTITY)
    yield index
    index.close()


@pytest.fixture
def index(opened):
    with Index(opened.path, IDENTITY) as index:
        yield index


@pytest.fixture
def writer(opened):
    return IndexWriter(opened, DEPLOYMENT)


def of_newer_version(events, contents=b"\1\2"):
    kind = StructTag(object_id("version", 2), "tool", "ToolRenamed")
    return events.raw(Event(kind.address, "tool", object_id("sender", 0), kind, contents))


def test_unknown_event_is_stored_with_its_position(writer, index, events, opened):
    record = of_newer_version(events)
    writer.apply([record])
    assert index.status().unknown_events == 1
    [row] = read(opened, "unknown_events")
    assert row["contents"] == b"\1\2"
    assert (row["checkpoint"], row["transaction_index"], row["event_index"]) == (1, 0, 0)
    assert row["type"] == str(record.event.type)


def read(opened, table):
    with closing(open_reader(opened.path, IDENTITY)) as connection:
        return rows_of(connection)[table]


def test_events_of_an_unknown_package_are_read_once_it_is_known(opened, events):
    """An index of a program without the package of workflows gets it later."""
    without = replace(DEPLOYMENT, workflows_id=None, workflows_original_id=None, dag_registry=None)
    records = [events.tool(1), events.workflow(1), *events.invocation(1), events.workflow(2)]
    IndexWriter(opened, without).apply(records)
    with Index(opened.path, IDENTITY) as index:
        assert (index.status().unknown_events, index.status().workflows) == (2, 0)
        change = index.tool_texts()[-1].change
        IndexWriter(opened, DEPLOYMENT)
        assert (index.status().unknown_events, index.status().workflows) == (0, 2)
        assert index.tool_texts(change) == []  # the tool has not changed


def test_bytes_that_do_not_match_the_type_are_an_unknown_event(writer, index, events):
    record = events.tool(1)
    broken = replace(record, event=replace(record.event, contents=b"\0"))
    writer.apply([broken, events.tool(2)])
    assert (index.status().unknown_events, index.status().tools) == (1, 1)


HOSTILE = {
    "NUL": "a\0b",
    "bidirectional": "\u202eevil\u2066",
    "escape sequence": "\x1b[2J",
    "markup": "'; DROP TABLE tools; --",
    "huge": "x" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_stored_unchanged(writer, index, events, text):
    writer.apply([events.tool(1, description=text, url=text)])
    [tool] = index.tools().items
    assert (tool.description, tool.url) == (text, text)
    [found] = index.tool_texts()
    assert found.description == text


def test_largest_amounts_do_not_stop_the_writer(writer, index, events):
    """Anyone can register a tool with any price and timeout."""
    writer.apply([events.tool(1, price_mist=LARGEST, timeout_ms=LARGEST), events.tool(2)])
    updated = ToolUpdated(
        *(object_id("tool", 2), "xyz.domain2.tool2@1", "", "", LARGEST, LARGEST),
        *(object_id("owner", 0), LARGEST, False, LARGEST, None),
    )
    writer.apply([events.record(updated), *events.invocation(1, tool=1)])
    assert [tool.price_mist for tool in index.tools().items] == [2**63 - 1] * 2
    for sort in ToolSort:
        assert len(index.tools(sort=sort).items) == 2


def test_closing_without_its_request_is_counted(writer, index, events):
    """The node has pruned the request."""
    [_, closing] = events.invocation(1, tool=1, leader=1, requester=1)
    writer.apply([events.tool(1), events.leader(1), closing])
    assert index.tool("xyz.domain1.tool1@1").windows.last_30_days.outcomes == {}  # of 2023
    assert index.invocation(object_id("invocation", 1)) is None
    assert index.invocations_closed_by(object_id("leader", 1)).items == ()
    assert index.stats(10_000)[0].performance.settled == 1
    assert index.stats(10_000)[0].performance.p50_ms is None


def test_update_of_a_tool_that_was_pruned_is_ignored(writer, index, events):
    updated = ToolUpdated(
        *(object_id("tool", 2), "xyz.domain2.tool2@1", "", "", 1, 1),
        *(object_id("owner", 0), 0, False, 1, None),
    )
    writer.apply([events.record(updated), events.tool(3)])
    assert [tool.fqn for tool in index.tools().items] == ["xyz.domain3.tool3@1"]


def test_many_addresses_of_one_payer_change_mine_for_no_one(writer, index, events):
    """A tool's author buys 450 payers. The record of another account does not change."""
    batch = [events.tool(1), events.leader(1)]
    for number in range(450):
        batch += events.invocation(number, tool=1, leader=1, requester=1_000 + number)
    batch += events.invocation(450, tool=1, leader=1, requester=7, fails=True)
    writer.apply(batch)
    mine = index.tool("xyz.domain1.tool1@1", requesters=[object_id("requester", 7)]).tool.mine
    assert mine.outcomes == {"unreachable": 1}


def test_repeated_calls_of_one_account_count_once_in_the_reputation(writer, index, events):
    batch = [events.tool(1), events.leader(1)]
    for number in range(100):
        batch += events.invocation(number, tool=1, leader=1, requester=7)
    writer.apply(batch)
    [tool] = index.tools().items
    assert tool.reputation == pytest.approx((1 + 4) / (1 + 8))


def test_old_record_expires_from_the_order(writer, index, events):
    """After 31 days without a call, a tool has the reputation of a new tool."""
    day = 86_400
    writer.apply([events.tool(1), events.tool(2), *events.invocation(0, tool=1)])
    assert index.tools(sort=ToolSort.REPUTATION).items[0].fqn.endswith("tool1@1")
    writer.apply(events.invocation(31 * day, tool=2))
    reputations = {tool.fqn: tool.reputation for tool in index.tools().items}
    assert reputations["xyz.domain1.tool1@1"] == 0.5
    assert reputations["xyz.domain2.tool2@1"] > 0.5
    assert {tool.fqn: tool.volume_mist for tool in index.tools().items} == {
        "xyz.domain1.tool1@1": 0,
        "xyz.domain2.tool2@1": 100,
    }


@pytest.mark.parametrize("is_reopened", [False, True])
def test_sort_values_follow_when_the_index_is_no_longer_behind(
    is_reopened, writer, opened, index, events, tmp_path
):
    batches = [[events.tool(1), events.leader(1)]]
    batches += [events.invocation(number, tool=1, leader=1) for number in range(3)]
    for batch in batches[:-1]:
        writer.apply(batch, is_behind=True)
    [tool] = index.tools().items
    assert (tool.reputation, tool.volume_mist, tool.last_seen_ms) == (0.5, 0, 0)
    assert index.stats(10_000)[0].performance.settled == 2
    if is_reopened:
        writer = IndexWriter(opened, DEPLOYMENT)
    writer.apply(batches[-1])
    [tool] = index.tools().items
    assert tool.reputation > 0.5
    assert tool.volume_mist == 300
    other = open_writer(tmp_path / "other.sqlite", IDENTITY)
    IndexWriter(other, DEPLOYMENT).apply([event for batch in batches for event in batch])
    assert read_rows(opened) == read_rows(other)
    other.close()


def test_sort_values_of_a_long_catch_up_are_updated_now_and_then(
    writer, index, events, monkeypatch
):
    monkeypatch.setattr(writer_module, "_EVENTS_BETWEEN_RANKINGS", 4)
    writer.apply([events.tool(1)], is_behind=True)
    volumes = []
    for number in range(4):
        writer.apply(events.invocation(number, tool=1), is_behind=True)
        volumes.append(index.tools().items[0].volume_mist)
    assert volumes == [0, 200, 200, 400]


def test_latencies_are_within_a_fifth(writer, index, events):
    """Each synthetic invocation takes 300 ms. 2023 is in no window, so ask for all requesters."""
    batch = [events.tool(1)]
    for number in range(20):
        batch += events.invocation(number, tool=1, requester=7)
    writer.apply(batch)
    mine = index.tool("xyz.domain1.tool1@1", requesters=[object_id("requester", 7)]).tool.mine
    assert mine.p50_ms == pytest.approx(300, rel=0.19)
    assert mine.p95_ms == mine.p50_ms


def test_marks_become_sparse_with_their_age(writer, events, opened):
    """1 000 checkpoints have at most 100 new marks and one old mark."""
    for number in range(1_200):
        record = events.lock(number)
        mark = Mark(record.checkpoint, 0, record.transaction_digest)
        writer.apply([replace(record, cursor=replace(record.cursor, mark=mark))])
    marks = [mark.checkpoint for mark in writer.marks()]
    assert marks == [1, 1_000, *range(1_101, 1_201)]


def test_mark_of_a_checkpoint_is_stored(writer, events):
    record = events.tool(1)
    mark = Mark.of_checkpoint(0, record.transaction_digest)
    writer.apply([replace(record, cursor=replace(record.cursor, mark=mark))])
    assert writer.marks() == [mark]
