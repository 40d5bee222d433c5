"""Builds an index from synthetic events, and prints its costs.

The arguments are a folder, the number of tools, the number of invocations, and the intent model.
The process makes the events and the objects of tools in memory. They enter the index as they do
from a node, and only the time of the index counts.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.index_events import (
    DEPLOYMENT,
    Recorder,
    registered_leader,
    registered_tool,
    tool_object,
)
from benchmarks.index_market import LEADERS, MarketTool, invocations, market
from nexus_tools.cli.framework import reduce_gc_frequency
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.index import (
    IndexIdentity,
    IndexWriter,
    SearchUpdate,
    VectorUpdate,
    open_writer,
)
from nexus_tools.index.definitions import definition_words
from nexus_tools.index.pipeline import EVENTS_AT_ONCE
from nexus_tools.index.search import CatchUp, load_intent_model, open_text_index
from nexus_tools.index.search.engines import text_folder
from nexus_tools.index.tool_text import read_tool_texts
from nexus_tools.sui.client import EventRecord

FILE = "index.sqlite"
_DEFINITIONS = 50


class Build:
    """An index that is built part by part, with the costs of each part.

    The costs are seconds, CPU seconds, and the largest memory in MiB.
    """

    def __init__(self, folder: Path) -> None:
        self._index = open_writer(folder / FILE, IndexIdentity.of(DEPLOYMENT))
        self._writer = IndexWriter(self._index, DEPLOYMENT)
        self._recorder = Recorder()
        self.costs: dict[str, dict[str, float]] = {}

    def add_tools(self, count: int) -> None:
        """Register leaders and tools, and read the definitions of the tools."""
        self._apply("tools", map(self._recorder.record, map(registered_leader, range(LEADERS))))
        events = (_registration(number, tool) for number, tool in enumerate(market(count)))
        self._apply("tools", map(self._recorder.record, events))
        tools = enumerate(market(count))
        while pending := self._writer.pending_definitions(_DEFINITIONS):
            values = {
                (row, seq): tool_object(
                    _registration(number, tool), tool.input_schema, tool.output_schema
                )
                for (row, seq, _), (number, tool) in zip(pending, tools, strict=False)
            }
            with self._timed("definitions"):
                words = {key: definition_words(DEPLOYMENT, value) for key, value in values.items()}
                self._writer.save_definitions(words)

    def add_invocations(self, tools: int, count: int) -> None:
        """Request and close invocations."""
        self._apply("invocations", map(self._recorder.record, invocations(tools, count)))
        self._index.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def add_search(self, intent_model: str) -> None:
        """Make the tools findable with Tantivy and FTS5, and by meaning."""
        self.add_words()
        with self._timed("intent"):
            model = load_intent_model(intent_model)
            with closing(VectorUpdate(self._index, model)) as vectors:
                vectors.run()
        with self._timed("fts5"):
            self._add_fts5()

    def add_words(self) -> None:
        """Make the tools findable with Tantivy."""
        with self._timed("tantivy"), closing(SearchUpdate(self._index)) as update:
            update.run()

    def _add_fts5(self) -> None:
        connection = self._index.connection
        ((generation,),) = connection.execute("SELECT generation FROM identity")
        folder = text_folder(self._index.path)
        text_index = open_text_index(folder, generation, is_writer=True, engine="fts5")
        with closing(text_index):
            CatchUp(partial(read_tool_texts, connection), text_index).run()

    def _apply(self, part: str, records: Iterable[EventRecord]) -> None:
        remaining = iter(records)
        page = list(islice(remaining, EVENTS_AT_ONCE))
        while page:
            following = list(islice(remaining, EVENTS_AT_ONCE))
            with self._timed(part):
                self._writer.apply(page, is_behind=bool(following))
            page = following

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        """Add the costs of a block to a part."""
        costs = self.costs.setdefault(part, {"s": 0.0, "cpu_s": 0.0, "mib": 0.0})
        _reset_peak()
        cpu_s, begin = process_time(), perf_counter()
        yield
        costs["s"] += perf_counter() - begin
        costs["cpu_s"] += process_time() - cpu_s
        costs["mib"] = max(costs["mib"], peak_mib())


def _registration(number: int, tool: MarketTool) -> ToolRegistered:
    return registered_tool(number, tool.fqn, tool.description, price_mist=tool.price_mist)


def peak_mib() -> float:
    """Return the largest memory of this process since `_reset_peak`, in MiB."""
    status = Path("/proc/self/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def _reset_peak() -> None:
    """Forget the largest memory of this process so far (proc(5), `clear_refs`)."""
    Path("/proc/self/clear_refs").write_text("5")


def main(folder: Path, tools: int, invocations_: int, intent_model: str) -> None:
    """Build the index, and print the costs of each part as JSON."""
    reduce_gc_frequency()
    build = Build(folder)
    build.add_tools(tools)
    build.add_invocations(tools, invocations_)
    build.add_search(intent_model)
    print(json.dumps(build.costs))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
