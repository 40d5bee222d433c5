"""The pipeline stores every event once, also after rollbacks and interruptions."""

import asyncio
import dataclasses
import random
from contextlib import aclosing, asynccontextmanager, suppress

import pytest
from msgspec import structs

from nexus_tools import KeyPair, Nexus
from nexus_tools.contracts import Publisher, load_package
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import Schedule
from nexus_tools.errors import NotFoundError, WrongStateError
from nexus_tools.index import (
    Index,
    IndexIdentity,
    IndexPipeline,
    IndexWriter,
    open_writer,
    rebuild,
)
from nexus_tools.index import pipeline as pipeline_module
from nexus_tools.registry import LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client.events.event_sources import CheckpointEventSource, IndexEventSource
from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.types.address import Address
from nexus_tools.tool_server import Variant, serving, tool
from tests.conftest import MOVE_PACKAGE
from tests.index.conftest import ADD, PRICED, SUM, add_events, read_rows, rows_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def eventful(history):
    """Return a history with all events, which the other tests of this module do not find."""
    await add_events(history)
    return history


class Number(Variant, name="ok"):
    value: int


@tool("xyz.example.math.double@1")
async def double(number: int) -> Number:
    """Doubles a number."""
    return Number(value=2 * number)


def addresses(rows):
    return {row["id"]: Address(row["address"]) for row in rows["addresses"]}


async def test_state_equals_the_objects_on_chain(eventful, new_index, pipeline):
    index = new_index()
    await pipeline(index).catch_up()
    rows = read_rows(index)
    names = addresses(rows)
    stored = {row["fqn"]: row for row in rows["tools"]}
    assert stored.keys() == {ADD, PRICED}
    for fqn, row in stored.items():
        tool = await eventful.tools.get(fqn)
        assert names[row["id"]] == tool.id
        assert names[row["owner"]] == await eventful.tools.owner(tool)
        assert (row["state"], row["price_mist"]) == (tool.state, tool.price_mist)
        assert (row["registration"], row["revision"]) == (tool.index, tool.revision)
        assert bool(row["accepts_any_leader"]) == tool.accepts_any_leader
        assert names[row["payout"]] == tool.payout
        listed = {
            names[item["leader"]] for item in rows["tool_leaders"] if item["tool"] == row["id"]
        }
        assert listed == set(tool.leaders.entries)
        assert not row["definition_pending"]
    [leader] = rows["leaders"]
    assert (
        leader["state"]
        == (
            await LeaderRegistry(eventful.clients["user"], eventful.deployment).get(
                names[leader["id"]]
            )
        ).state
    )
    [workflow] = rows["workflows"]
    assert workflow["fqn"] == SUM
    [schedule] = rows["schedules"]
    on_chain = await eventful.tools.read(names[schedule["id"]], Schedule)
    assert (schedule["state"], schedule["funds_mist"]) == (on_chain.state, on_chain.funds_mist)
    assert schedule["next_at_ms"] == on_chain.next_at_ms
    own, scheduled = sorted(rows["executions"], key=lambda row: row["seq"])
    assert (own["schedule"], scheduled["schedule"]) == (None, schedule["id"])
    for row in own, scheduled:
        execution = await eventful.tools.read(names[row["id"]], Execution)
        assert names[row["owner"]] == execution.owner
        assert row["ended_at_ms"] == execution.ended_at_ms


async def test_batches_of_any_size_give_the_same_rows(eventful, new_index, write):
    items = await eventful.items()
    whole = new_index("whole.sqlite")
    write(whole, items, len(items))
    single = new_index("single.sqlite")
    write(single, items, 1)
    assert read_rows(single) == read_rows(whole)
    mixed = new_index("mixed.sqlite")
    writer, sizes, place = IndexWriter(mixed, eventful.deployment), random.Random(7), 0
    while place < len(items):
        size = sizes.randint(1, 9)
        writer.apply(items[place : place + size])
        place += size
    assert read_rows(mixed) == read_rows(whole)


async def test_rollback_gives_the_rows_of_a_fresh_index(eventful, new_index, write):
    items = await eventful.items()
    index = new_index()
    writer = write(index, items)
    checkpoints = sorted({item.cursor.checkpoint for item in items}, reverse=True)
    for common in checkpoints[::5]:
        writer.roll_back(common)
        fresh = new_index(f"{common}.sqlite")
        kept = [item for item in items if item.cursor.checkpoint <= common]
        write(fresh, kept)
        assert read_rows(index) == read_rows(fresh)


async def test_revert_of_the_network_removes_rows(history, new_index, pipeline):
    await history.tools.register(Registration(history.define(ADD)))
    snapshot = history.net.snapshot()
    await history.tools.register(Registration(history.define(PRICED)))
    await history.close(ADD)
    index = new_index()
    await pipeline(index).catch_up()
    history.net.revert(snapshot)
    for _ in range(5):  # the new chain becomes longer than the old one
        history.net.fund(history.clients["user"].address, 1)
    other = ToolRegistry(history.clients["admin"], history.deployment)
    await other.register(Registration(history.define("xyz.example.other@1")))
    await pipeline(index).catch_up()
    fresh = new_index("fresh.sqlite")
    await pipeline(fresh).catch_up()
    assert read_rows(index) == read_rows(fresh)
    assert {row["fqn"] for row in read_rows(index)["tools"]} == {ADD, "xyz.example.other@1"}


# --- Following


@asynccontextmanager
async def running(pipeline):
    """Run a pipeline in the background, and end it as the command does."""
    task = asyncio.create_task(pipeline.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Reports:
    """The reports of a pipeline, and a way to wait until it has written something."""

    def __init__(self):
        self.written = asyncio.Event()
        self.errors = []

    def __call__(self, _cursor):
        self.written.set()

    async def until(self, is_done):
        async with asyncio.timeout(20):
            while not is_done():
                self.written.clear()
                await self.written.wait()


def tools_in(index):
    return {row["fqn"]: row["definition_pending"] for row in read_rows(index)["tools"]}


async def test_running_pipeline_adds_new_tools_and_their_definitions(history, new_index, pipeline):
    index, reports = new_index(), Reports()
    async with running(pipeline(index, report=reports)):
        await history.tools.register(Registration(history.define(ADD)))
        await reports.until(lambda: tools_in(index) == {ADD: 0})
        await history.tools.register(Registration(history.define(PRICED)))
        await reports.until(lambda: tools_in(index) == {ADD: 0, PRICED: 0})
    fresh = new_index("fresh.sqlite")
    await pipeline(fresh).catch_up()
    await pipeline(index).catch_up()
    assert read_rows(index) == read_rows(fresh)


async def test_running_pipeline_follows_a_revert(history, new_index, pipeline):
    index, reports = new_index(), Reports()
    await history.tools.register(Registration(history.define(ADD)))
    snapshot = history.net.snapshot()
    async with running(pipeline(index, report=reports, interrupted=reports.errors.append)):
        await history.tools.register(Registration(history.define(PRICED)))
        await reports.until(lambda: PRICED in tools_in(index))
        history.net.revert(snapshot)
        for _ in range(5):
            history.net.fund(history.clients["user"].address, 1)
        await reports.until(lambda: PRICED not in tools_in(index))
        other = ToolRegistry(history.clients["admin"], history.deployment)
        await other.register(Registration(history.define("xyz.example.other@1")))
        await reports.until(lambda: tools_in(index) == {ADD: 0, "xyz.example.other@1": 0})
    assert "chain_rolled_back" in {error.code for error in reports.errors}


async def test_revert_before_the_live_stream_starts_is_noticed(
    history, new_index, pipeline, monkeypatch
):
    """The chain changes between the list of past events and the subscription."""
    await history.tools.register(Registration(history.define(ADD)))
    snapshot = history.net.snapshot()
    await history.tools.register(Registration(history.define(PRICED)))
    live = IndexEventSource.live

    async def live_after_revert(source):
        monkeypatch.setattr(IndexEventSource, "live", live)
        history.net.revert(snapshot)
        for _ in range(5):
            history.net.fund(history.clients["user"].address, 1)
        async with aclosing(live(source)) as items:
            async for item in items:
                yield item

    monkeypatch.setattr(IndexEventSource, "live", live_after_revert)
    index, reports = new_index(), Reports()
    async with running(pipeline(index, report=reports, interrupted=reports.errors.append)):
        await reports.until(lambda: PRICED in tools_in(index))
        await reports.until(lambda: PRICED not in tools_in(index))
    assert [error.code for error in reports.errors] == ["chain_rolled_back"]


async def test_rollback_after_a_restart_keeps_the_events_before_it(history, new_index, pipeline):
    """A node that is behind for a while must not cost the whole index."""
    index = new_index()
    await history.tools.register(Registration(history.define(ADD)))
    await pipeline(index).catch_up()
    with Index(index.path, index.identity) as reader:
        [text] = reader.tool_texts()
        await history.request(ADD)
        await pipeline(index).catch_up()
        snapshot = history.net.snapshot()
        await history.tools.register(Registration(history.define(PRICED)))
        await pipeline(index).catch_up()
        history.net.revert(snapshot)
        for _ in range(5):
            history.net.fund(history.clients["user"].address, 1)
        await pipeline(index).catch_up()
        assert reader.tool_texts(text.change - 1)[0] == text  # it was not read again
    fresh = new_index("fresh.sqlite")
    await pipeline(fresh).catch_up()
    assert read_rows(index) == read_rows(fresh)


async def test_removed_tool_is_reported_to_text_search(history, new_index, pipeline):
    index = new_index()
    await history.tools.register(Registration(history.define(ADD)))
    snapshot = history.net.snapshot()
    await history.tools.register(Registration(history.define(PRICED)))
    await pipeline(index).catch_up()
    with Index(index.path, index.identity) as reader:
        seen = {text.tool: text for text in reader.tool_texts()}
        last = max(text.change for text in seen.values())
        history.net.revert(snapshot)
        for _ in range(5):
            history.net.fund(history.clients["user"].address, 1)
        await pipeline(index).catch_up()
        removed = next(text for text in reader.tool_texts(last) if text.fqn == PRICED)
        assert not removed.is_listed
        assert seen[removed.tool].fqn == PRICED
        other = ToolRegistry(history.clients["admin"], history.deployment)
        await other.register(Registration(history.define("xyz.example.other@1")))
        await pipeline(index).catch_up()
        changes = {text.tool: text for text in reader.tool_texts(last)}
        assert "xyz.example.other@1" in {text.fqn for text in changes.values()}
        merged = {text.fqn for text in (seen | changes).values() if text.is_listed}
        assert merged == {ADD, "xyz.example.other@1"}


async def test_pipeline_stops_when_another_process_writes(history, new_index, pipeline):
    index = new_index()
    first, second = pipeline(index), pipeline(index)
    await history.tools.register(Registration(history.define(ADD)))
    await first.catch_up()
    with pytest.raises(WrongStateError) as caught:
        await second.catch_up()
    assert caught.value.code == "index_taken_over"


async def test_replaced_chain_stops_the_pipeline(history, new_index, tmp_path):
    """The same node now has another chain, so the index must not get its events."""
    deployment = structs.replace(history.deployment, chain_id="another")
    index = open_writer(tmp_path / "other.sqlite", IndexIdentity.of(deployment))
    writer = IndexWriter(index, deployment)
    await history.tools.register(Registration(history.define(ADD)))
    with pytest.raises(WrongStateError) as caught:
        await IndexPipeline(history.clients["user"], deployment, writer).catch_up()
    assert caught.value.code == "index_chain_replaced"
    assert "nexus-tools index run" in caught.value.hint
    assert rows_of(index.connection)["events"] == []
    index.close()


async def test_index_that_lacks_pruned_events_is_not_continued(
    history, new_index, pipeline, monkeypatch
):
    index = new_index()

    async def oldest(_client):
        return 5

    monkeypatch.setattr(pipeline_module, "oldest_checkpoint", oldest)
    with pytest.raises(NotFoundError) as caught:
        await pipeline(index).catch_up()
    assert caught.value.code == "history_missing"
    assert "index rebuild" in caught.value.hint


async def test_index_starts_at_the_oldest_checkpoint(eventful, new_index, pipeline):
    whole = new_index("whole.sqlite")
    await pipeline(whole).catch_up()
    requests = [row["checkpoint"] for row in read_rows(whole)["requests"]]
    oldest = sorted(requests)[1]
    index = new_index(oldest=oldest)
    await pipeline(index).catch_up()
    rows = read_rows(index)
    assert sorted(row["checkpoint"] for row in rows["requests"]) == sorted(requests)[1:]
    assert rows["tools"] == []
    with Index(index.path, index.identity) as reader:
        assert reader.status().complete_since == oldest


async def test_rebuild_equals_the_index(eventful, new_index, pipeline):
    index = new_index()
    await pipeline(index).catch_up()
    before = read_rows(index)
    await rebuild(eventful.clients["user"], eventful.deployment, index)
    assert read_rows(index) == before


async def test_invocations_of_a_real_leader_are_indexed(localnet, tmp_path):
    key = KeyPair.new()
    localnet.fund(key.address, 100 * 10**9)
    async with Nexus.publish(localnet, key) as nexus, serving(double) as url:
        await nexus.tools.register(double.definition(url))
        async with nexus.leader("leader", allow_loopback=True):
            for number in range(3):
                await nexus.invoke("xyz.example.math.double@1", {"number": number})
        identity = IndexIdentity.of(nexus.deployment)
        index = open_writer(tmp_path / "index.sqlite", identity)
        writer = IndexWriter(index, nexus.deployment)
        await IndexPipeline(nexus.client, nexus.deployment, writer).catch_up()
        index.close()
        with nexus.index(index.path) as reader:
            found = reader.invocations(requester=key.address).items
            detail = reader.tool("xyz.example.math.double@1", requesters=[key.address])
    assert [(item.outcome, item.is_deleted) for item in found] == [("settled", True)] * 3
    assert detail.tool.mine.outcomes == {"settled": 3}
    assert detail.tool.mine.p50_ms is not None


async def test_node_without_event_index_gives_the_same_rows(
    eventful, new_index, pipeline, monkeypatch
):
    indexed = new_index("indexed.sqlite")
    await pipeline(indexed).catch_up()
    monkeypatch.setattr(
        "nexus_tools.sui.client.events.event_following.IndexEventSource", CheckpointEventSource
    )
    index = new_index()
    await pipeline(index).catch_up()
    assert read_rows(index) == read_rows(indexed)


# --- Upgrades

_CHANGES = {
    "const VERSION: u64 = 1;": "const VERSION: u64 = 2;\n\n"
    "public struct Extra has copy, drop { number: u64 }",
    "    event::emit(RegistryMigrated { registry, version: VERSION });": "    event::emit("
    "RegistryMigrated { registry, version: VERSION });\n    event::emit(Extra { number: 7 });",
}


@pytest.fixture
def extended_package(move_builder):
    """Return the next version of the package, whose migration emits an event of a new type."""
    sources = dict(read_sources(MOVE_PACKAGE))
    text = sources["sources/version.move"]
    for before, after in _CHANGES.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    built = move_builder.build(sources | {"sources/version.move": text})
    return dataclasses.replace(
        load_package(),
        modules=built.modules,
        dependencies=tuple(map(Address, built.dependencies)),
        digest=built.digest,
    )


async def test_events_of_a_newer_version_are_stored(history, new_index, pipeline, extended_package):
    """The upgrade happens while the pipeline follows the events of the first version."""
    index, reports = new_index(), Reports()
    await history.tools.register(Registration(history.define(ADD)))
    async with running(pipeline(index, report=reports)):
        await reports.until(lambda: ADD in tools_in(index))
        publisher = Publisher(history.clients["admin"])
        upgraded = (await publisher.upgrade(extended_package, history.deployment)).deployment
        await publisher.migrate(upgraded)
        tools = ToolRegistry(history.clients["owner"], upgraded)
        await tools.register(Registration(history.define(PRICED)))
        await reports.until(lambda: tools_in(index) == {ADD: 0, PRICED: 0})
    rows = read_rows(index)
    stored = [(row["type"].partition("::")[2], row["contents"]) for row in rows["unknown_events"]]
    assert set(stored) == {("version::Extra", (7).to_bytes(8, "little"))}
    await pipeline(index).catch_up()
    fresh = new_index("fresh.sqlite")
    await pipeline(fresh).catch_up()
    assert read_rows(fresh) == read_rows(index)
