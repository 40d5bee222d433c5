"""Updates of text indexes from a table of tools."""

import pytest

from nexus_tools.index.search import CatchUp
from nexus_tools.index.search.catch_up import BATCH_SIZE
from nexus_tools.index.tool_text import ToolText
from tests.index.search.conftest import tool_text


class Table:
    """The current texts of tools."""

    def __init__(self) -> None:
        self.texts: dict[int, ToolText] = {}
        self.reads: list[int] = []

    def put(self, *texts: ToolText) -> None:
        self.texts |= {text.tool: text for text in texts}

    def read(self, after_change: int, limit: int) -> list[ToolText]:
        self.reads.append(after_change)
        newer = (text for text in self.texts.values() if text.change > after_change)
        return sorted(newer, key=lambda text: text.change)[:limit]


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def found(index, query):
    return [match.tool for match in index.search(query, 10)]


def test_catch_up_applies_new_changed_and_removed_tools(index, table, clock):
    catch_up = CatchUp(table.read, index, clock_s=clock)
    table.put(tool_text(1, "xyz.aa.convert@1"), tool_text(2, "xyz.aa.rotate@1"))
    assert catch_up.run() == 2
    clock.now_s += 2
    table.put(
        tool_text(1, "xyz.aa.convert@1", "invert", change=3),
        tool_text(2, "xyz.aa.rotate@1", change=4, listed=False),
    )
    assert catch_up.run() == 2
    assert found(index, "invert") == [1]
    assert found(index, "rotate") == []
    assert index.latest_change == 4


def test_catch_up_reads_in_batches(index, table, clock):
    count = 2 * BATCH_SIZE + 1
    table.put(*(tool_text(tool, f"xyz.aa.tool{tool}@1") for tool in range(1, count + 1)))
    catch_up = CatchUp(table.read, index, clock_s=clock)
    assert catch_up.run(max_batches=1) == BATCH_SIZE
    assert index.latest_change == BATCH_SIZE
    assert catch_up.run() == BATCH_SIZE + 1
    assert table.reads == [0, BATCH_SIZE, 2 * BATCH_SIZE]
    assert found(index, f"tool{count}")[0] == count


def test_catch_up_updates_once_a_second(index, table, clock):
    catch_up = CatchUp(table.read, index, clock_s=clock)
    table.put(tool_text(1, "xyz.aa.convert@1"))
    assert catch_up.run() == 1
    table.put(tool_text(2, "xyz.aa.rotate@1"))
    clock.now_s += 0.99
    assert catch_up.run() == 0
    assert found(index, "rotate") == []
    clock.now_s += 0.01
    assert catch_up.run() == 1
    assert found(index, "rotate") == [2]


def test_catch_up_without_changes_does_not_delay_the_next_change(index, table, clock):
    catch_up = CatchUp(table.read, index, clock_s=clock)
    assert catch_up.run() == 0
    table.put(tool_text(1, "xyz.aa.convert@1"))
    assert catch_up.run() == 1


def test_catch_up_continues_after_a_restart(open_index, table, clock):
    index = open_index()
    table.put(tool_text(1, "xyz.aa.convert@1"))
    CatchUp(table.read, index, clock_s=clock).run()
    index.close()
    table.put(tool_text(2, "xyz.aa.rotate@1"))
    reopened = open_index()
    assert CatchUp(table.read, reopened, clock_s=clock).run() == 1
    assert found(reopened, "convert") == [1]
    assert found(reopened, "rotate") == [2]
