"""Queries do the same work in small and large indices."""

import pytest

from nexus_tools.contracts import LeaderState, ToolState
from nexus_tools.index import (
    Index,
    IndexedToolFilter,
    IndexIdentity,
    IndexWriter,
    InvocationOutcome,
    LeaderSort,
    ToolSort,
    open_reader,
    open_writer,
)
from nexus_tools.index import index as index_module
from nexus_tools.index.queries.search import read_texts
from tests.index.synthetic import DEPLOYMENT, Events, object_id

SMALL, LARGE = 1_000, 20_000
IDENTITY = IndexIdentity.of(DEPLOYMENT)


def fill(path, rows):
    """Write an index with this number of tools, leaders, invocations, and so on."""
    events, index = Events(), open_writer(path, IDENTITY)
    writer = IndexWriter(index, DEPLOYMENT)
    records = []
    for number in range(rows):
        records += [events.tool(number), events.leader(number), events.workflow(number)]
        records += [events.execution(number), events.schedule(number)]
        records += events.invocation(number, fails=not number % 9)
    for start in range(0, len(records), 5_000):
        writer.apply(records[start : start + 5_000])
    index.close()


@pytest.fixture(scope="module")
def indices(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indices")
    for rows in (SMALL, LARGE):
        fill(folder / f"{rows}.sqlite", rows)
    return folder


class Effort:
    """An index that counts the instructions of SQLite's virtual machine."""

    def __init__(self, path, monkeypatch):
        self.instructions = 0
        with monkeypatch.context() as patch:
            patch.setattr(index_module, "open_reader", self._open)
            self.index = Index(path, IDENTITY)

    def _open(self, path, identity):
        connection = open_reader(path, identity)
        connection.set_progress_handler(self._count, 1)
        return connection

    def _count(self):
        self.instructions += 1


OWNER, TOOL, LEADER = object_id("owner", 3), object_id("tool", 3), object_id("leader", 3)
REQUESTER = object_id("requester", 3)
MINE = [REQUESTER, object_id("requester", 4)]

QUERIES = {
    **{
        f"tools by {sort}": lambda index, after, sort=sort: index.tools(sort=sort, after=after)
        for sort in ToolSort
    },
    "tools of an owner": lambda index, after: index.tools(
        IndexedToolFilter(owner=OWNER), after=after
    ),
    "tools of a domain": lambda index, after: index.tools(
        IndexedToolFilter("xyz.domain3"), sort=ToolSort.NAME, after=after
    ),
    "tools of a price": lambda index, after: index.tools(
        IndexedToolFilter(min_price_mist=100, max_price_mist=100), sort=ToolSort.PRICE, after=after
    ),
    "active tools": lambda index, after: index.tools(
        IndexedToolFilter(state=ToolState.ACTIVE), after=after
    ),
    "tools with my record": lambda index, after: index.tools(after=after, requesters=MINE),
    "leaders": lambda index, after: index.leaders(after=after, requesters=MINE),
    "newest leaders": lambda index, after: index.leaders(
        LeaderState.INACTIVE, sort=LeaderSort.NEWEST, after=after
    ),
    "invocations": lambda index, after: index.invocations(after=after),
    "invocations of a requester": lambda index, after: index.invocations(
        requester=REQUESTER, after=after, limit=10
    ),
    "invocations of a tool": lambda index, after: index.invocations(tool=TOOL, after=after),
    "settled invocations": lambda index, after: index.invocations(
        outcome=InvocationOutcome.SETTLED, after=after
    ),
    "invocations of a leader": lambda index, after: index.invocations_closed_by(
        LEADER, after=after
    ),
    "workflows": lambda index, after: index.workflows(after=after),
    "workflows of an owner": lambda index, after: index.workflows(OWNER, after=after),
    "executions": lambda index, after: index.executions(after=after),
    "executions of a workflow": lambda index, after: index.executions(
        workflow=object_id("workflow", 2), after=after
    ),
    "executions of a schedule": lambda index, after: index.executions(
        schedule=object_id("schedule", 2), after=after
    ),
    "schedules": lambda index, after: index.schedules(owner=OWNER, after=after),
}


@pytest.mark.long
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_pages_cost_the_same_in_a_large_index(indices, monkeypatch, query):
    instructions = []
    for rows in (SMALL, LARGE):
        effort = Effort(indices / f"{rows}.sqlite", monkeypatch)
        with effort.index as index:
            first = query(index, None)
            assert first.items
            query(index, first.next)
        instructions.append(effort.instructions)
    assert instructions[1] < 1.3 * instructions[0]


DETAILS = {
    "tool": lambda index: index.tool("xyz.domain3.tool3@1", requesters=MINE),
    "leader": lambda index: index.leader(LEADER, requesters=MINE),
    "invocation": lambda index: index.invocation(object_id("invocation", 3)),
}


@pytest.mark.long
@pytest.mark.parametrize("query", DETAILS.values(), ids=DETAILS)
def test_details_cost_the_same_in_a_large_index(indices, monkeypatch, query):
    instructions = []
    for rows in (SMALL, LARGE):
        effort = Effort(indices / f"{rows}.sqlite", monkeypatch)
        with effort.index as index:
            assert query(index) is not None
        instructions.append(effort.instructions)
    assert instructions[1] < 1.3 * instructions[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "tool_filter",
    [
        IndexedToolFilter(),
        IndexedToolFilter(owner=OWNER),
        IndexedToolFilter("xyz.domain3"),
        IndexedToolFilter(min_price_mist=100, max_price_mist=100),
        IndexedToolFilter(tool_type="offchain"),
    ],
    ids=["all", "owner", "domain", "price", "type"],
)
def test_texts_of_found_tools_cost_the_same_in_a_large_index(indices, tool_filter):
    instructions = []
    for rows in (SMALL, LARGE):
        connection = open_reader(indices / f"{rows}.sqlite", IDENTITY)
        found = [number for (number,) in connection.execute("SELECT id FROM tools LIMIT 400")]
        counted = []
        connection.set_progress_handler(lambda counted=counted: counted.append(1), 1)
        assert read_texts(connection, found, tool_filter, None)
        connection.close()
        instructions.append(len(counted))
    assert instructions[1] < 1.3 * instructions[0]


@pytest.mark.long
def test_selective_filter_ends_a_page_early(indices, monkeypatch):
    nothing = IndexedToolFilter(state=ToolState.CLAIMED)
    effort = Effort(indices / f"{LARGE}.sqlite", monkeypatch)
    with effort.index as index:
        page = index.tools(nothing)
        assert page.items == ()
        pages = 1
        while page.next is not None:
            page = index.tools(nothing, after=page.next)
            pages += 1
    assert pages == LARGE // 2_000 + 1


def test_invocation_takes_less_than_400_bytes(tmp_path):
    """The requesters and tools of the last invocations are known, and the file has no log."""
    path, events = tmp_path / "index.sqlite", Events()
    index = open_writer(path, IDENTITY)
    writer, sizes = IndexWriter(index, DEPLOYMENT), []
    for start in range(0, 6_000, 1_000):
        batch = [events.invocation(number) for number in range(start, start + 1_000)]
        writer.apply([record for pair in batch for record in pair])
        [pages] = index.connection.execute("PRAGMA page_count").fetchone()
        sizes.append(pages * 4_096)
    index.close()
    assert (sizes[-1] - sizes[0]) / 5_000 < 400
