"""Measures queries of an index in a new process: `index_read FOLDER TOOLS ENGINE MODEL`.

The engine is `tantivy`, `fts5`, or `intent` for Tantivy together with an intent model. The process
prints the times of each kind of query, and its largest memory, as JSON.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from unittest.mock import patch

from benchmarks.index_build import FILE, peak_mib
from benchmarks.index_events import DEPLOYMENT, object_id
from benchmarks.index_market import LEADERS, market_tool, misspelled, synthetic_tool
from nexus_tools.contracts import ToolState
from nexus_tools.index import Index, IndexedToolFilter, ToolSort, index_search
from nexus_tools.index.search import open_text_index
from nexus_tools.index.search.words import split_fqn, split_words

WARM_UP, QUERIES = 30, 300
"""The number of queries of each kind. The first ones fill the caches and do not count."""

_REQUESTERS = [object_id("requester", number) for number in range(3)]

Query = Callable[[Index, Random], object]


@contextmanager
def opened(folder: Path, engine: str, intent_model: str) -> Iterator[Index]:
    """Open an index whose search uses an engine."""
    open_engine = partial(open_text_index, engine="fts5" if engine == "fts5" else None)
    model = intent_model if engine == "intent" else None
    with (
        patch.object(index_search, "open_text_index", open_engine),
        Index.open(DEPLOYMENT, folder / FILE, intent_model=model) as index,
    ):
        yield index


def _searches(tools: int) -> dict[str, Query]:
    """Return kinds of searches, for words that occur in the texts of random tools."""

    def words(random: Random, count: int) -> list[str]:
        tool = synthetic_tool(random.randrange(tools))
        return random.sample(split_words(tool.description), count)

    def word(index: Index, random: Random) -> object:
        return index.search(words(random, 1)[0], requesters=_REQUESTERS)

    def several(index: Index, random: Random) -> object:
        return index.search(" ".join(words(random, 4)), requesters=_REQUESTERS)

    def prefix(index: Index, random: Random) -> object:
        [text] = words(random, 1)
        return index.search(text[: random.randint(2, 5)], requesters=_REQUESTERS)

    def typo(index: Index, random: Random) -> object:
        return index.search(misspelled(words(random, 1)[0], random), requesters=_REQUESTERS)

    def sorted_(index: Index, random: Random) -> object:
        tool_filter = IndexedToolFilter(state=ToolState.ACTIVE, max_price_mist=1_000)
        text, sort = " ".join(words(random, 2)), random.choice([*ToolSort])
        return index.search(text, tool_filter, sort=sort, requesters=_REQUESTERS)

    return {
        "word": word,
        "four words": several,
        "prefix": prefix,
        "misspelled word": typo,
        "filter and sort": sorted_,
    }


def _lists(tools: int) -> dict[str, Query]:
    """Return kinds of pages and totals, which have no words."""

    def domain(random: Random) -> str:
        fqn = synthetic_tool(random.randrange(tools)).fqn
        return split_fqn(fqn)[1].rpartition(".")[0]

    def page(index: Index, random: Random) -> object:
        return index.tools(sort=random.choice([*ToolSort]), requesters=_REQUESTERS)

    def filtered(index: Index, random: Random) -> object:
        state, price = ToolState.ACTIVE, random.choice((0, 100, 1_000))
        if random.random() < 0.5:
            tool_filter = IndexedToolFilter(domain(random), state=state, max_price_mist=price)
            return index.tools(tool_filter, sort=ToolSort.NAME)
        tool_filter = IndexedToolFilter(state=state, min_price_mist=price, max_price_mist=price)
        return index.tools(tool_filter, sort=random.choice([*ToolSort]))

    return {"page of tools": page, "filter and sort of a list": filtered}


def _histories(tools: int) -> dict[str, Query]:
    """Return kinds of queries whose duration may not depend on the number of invocations."""

    def tool(random: Random) -> int:
        return int(tools * random.random() ** 3)

    def history(index: Index, random: Random) -> object:
        return index.invocations(tool=object_id("tool", tool(random)))

    def requests(index: Index, random: Random) -> object:
        return index.invocations(requester=object_id("requester", random.randrange(tools)))

    def closings(index: Index, random: Random) -> object:
        return index.invocations_closed_by(object_id("leader", random.randrange(LEADERS)))

    def totals(index: Index, random: Random) -> object:
        return index.tool(market_tool(tool(random), tools).fqn, requesters=_REQUESTERS)

    def days(index: Index, _: Random) -> object:
        return index.stats()

    return {
        "history of a tool": history,
        "history of a requester": requests,
        "history of a leader": closings,
        "totals of a tool": totals,
        "totals of all tools": days,
    }


class Clock:
    """The durations and the CPU times of queries in milliseconds. Other load changes CPU less."""

    def __init__(self) -> None:
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure a block."""
        cpu_s, begin = process_time(), perf_counter()
        yield
        self.wall_ms.append((perf_counter() - begin) * 1e3)
        self.cpu_ms.append((process_time() - cpu_s) * 1e3)

    def as_json(self) -> dict[str, list[float]]:
        """Return the measured times."""
        return {"wall_ms": self.wall_ms, "cpu_ms": self.cpu_ms}


def _measured(query: Query, index: Index) -> Clock:
    random, clock = Random(1), Clock()
    for _ in range(WARM_UP):
        query(index, random)
    for _ in range(QUERIES):
        with clock.measured():
            query(index, random)
    return clock


def main(folder: Path, tools: int, engine: str, intent_model: str) -> None:
    """Print the times of the first page and of each kind of query, and the memory."""
    first = Clock()
    with ExitStack() as stack:
        with first.measured():
            index = stack.enter_context(opened(folder, engine, intent_model))
            index.tools(requesters=_REQUESTERS)
        kinds = _searches(tools)
        if engine == "tantivy":
            kinds |= _lists(tools) | _histories(tools)
        clocks = {"first page": first}
        clocks |= {name: _measured(query, index) for name, query in kinds.items()}
    times = {name: clock.as_json() for name, clock in clocks.items()}
    print(json.dumps({"times": times, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5])
