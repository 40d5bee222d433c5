"""An index of a large market: building, searching and reading it, and whether it finds right tools.

All events are synthetic and enter through the writer of the index. A tenth of the market is indexed
too, so that figures show how costs grow. A localnet shows how fast events can arise.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks import chain
from benchmarks.figure import Figure, at_least, at_least_of_peer, at_most
from benchmarks.growth import children_cpu_s
from benchmarks.growth_history import History
from benchmarks.index_build import FILE
from benchmarks.processes import home, nexus_tools, python, run
from nexus_tools.index.search.engines import WORDLLAMA

TOOLS, INVOCATIONS = 30_000, 500_000
FULL_TOOLS, FULL_INVOCATIONS = 300_000, 10_000_000
ENCODED_TOOLS, ENCODED_INVOCATIONS = 5_000, 50_000
"""The size for another model, because a sentence encoder takes minutes for these tools."""
SMALL = 10
"""The large market has this many times the tools and the invocations of the small one."""
LOCALNET_INVOCATIONS = 10_000

ENGINES = ("intent", "tantivy", "fts5")
MOST_MS, MOST_FIRST_PAGE_MS, MOST_GROWTH, MOST_MIB = 20.0, 10.0, 1.3, 300.0
LEAST_TYPOS = 45
LEAST_FOUND = {"intent": 24, "tantivy": 17, "fts5": 17}

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class _Market:
    """A built index, and the durations of queries of each engine by kind."""

    folder: Path
    intent_model: str
    tools: int
    invocations: int
    build: Mapping[str, Mapping[str, float]]
    reads: Mapping[str, Mapping[str, Any]]


def measure(folder: Path, intent_model: str = WORDLLAMA) -> Iterator[Figure]:
    """Yield the figures of a market that takes a few minutes."""
    is_default = intent_model == WORDLLAMA
    size = (TOOLS, INVOCATIONS) if is_default else (ENCODED_TOOLS, ENCODED_INVOCATIONS)
    yield from _measure(folder, *size, intent_model)


def measure_full(folder: Path, intent_model: str = WORDLLAMA) -> Iterator[Figure]:
    """Yield the figures of the largest market. They take more than an hour."""
    yield from _measure(folder, FULL_TOOLS, FULL_INVOCATIONS, intent_model)


def _measure(folder: Path, tools: int, invocations: int, intent_model: str) -> Iterator[Figure]:
    small = _market(folder / "small", tools // SMALL, invocations // SMALL, intent_model)
    large = _market(folder / "large", tools, invocations, intent_model)
    yield from _build_figures(large)
    yield from _query_figures(large)
    yield from _growth_figures(small, large)
    yield from _quality_figures(large)
    yield from _localnet_figures(folder, large)


def _market(folder: Path, tools: int, invocations: int, intent_model: str) -> _Market:
    folder.mkdir()
    sizes = str(tools), str(invocations)
    build = run(python("index_build", str(folder), *sizes, intent_model), {})
    reads = {
        engine: run(python("index_read", str(folder), sizes[0], engine, intent_model), {})
        for engine in ENGINES
    }
    return _Market(folder, intent_model, tools, invocations, build, reads)


def _build_figures(market: _Market) -> Iterator[Figure]:
    size = (market.folder / FILE).stat().st_size
    for part, costs in market.build.items():
        if part == "invocations":
            events = 2 * market.invocations
            note = f"{1e6 * costs['cpu_s'] / events:.0f} µs of CPU per event of an invocation"
            yield Figure("index events of invocations", events / costs["s"], "events/s", note=note)
        else:
            name = f"index {part} of {market.tools} tools"
            per_tool_ms = 1e3 * costs["cpu_s"] / market.tools
            note = f"{part}: {costs['cpu_s']:.1f} s of CPU, {per_tool_ms:.2f} ms per tool"
            yield Figure(name, costs["s"], "s", note=note)
        yield Figure(f"index {part} memory", costs["mib"], "MiB", target=at_most(MOST_MIB))
    yield Figure("index build", sum(costs["s"] for costs in market.build.values()), "s")
    note = f"{size / market.invocations:.0f} bytes per invocation, tools included"
    yield Figure("index file", size / _MIB, "MiB", note=note)
    words = sum(file.stat().st_size for file in market.folder.rglob("*") if file.is_file()) - size
    yield Figure("index words of both engines", words / _MIB, "MiB")


def _query_figures(market: _Market) -> Iterator[Figure]:
    for engine, read in market.reads.items():
        for kind, times in read["times"].items():
            wall_ms, cpu_ms = times["wall_ms"], times["cpu_ms"]
            most_ms = MOST_FIRST_PAGE_MS if kind == "first page" else MOST_MS
            yield Figure(
                f"index {engine} {kind} p95",
                _p95(wall_ms),
                "ms",
                target=at_most(most_ms),
                note=f"{kind} with {engine}: median {median(wall_ms):.2f} ms, of CPU"
                f" {median(cpu_ms):.2f} ms, and p95 of CPU {_p95(cpu_ms):.2f} ms",
            )
        yield Figure(f"index {engine} memory", read["peak_mib"], "MiB", target=at_most(MOST_MIB))


def _p95(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else quantiles(values, n=20)[-1]


def _growth_figures(small: _Market, large: _Market) -> Iterator[Figure]:
    """Yield the ratios of CPU times, which other work on the machine hardly changes."""
    before, after = (market.reads["tantivy"]["times"] for market in (small, large))
    for kind in after:
        target = at_most(MOST_GROWTH) if kind.startswith(("history", "totals")) else None
        ratio = median(after[kind]["cpu_ms"]) / median(before[kind]["cpu_ms"])
        sizes = f"growth from {small.invocations} to {large.invocations} invocations"
        yield Figure(f"index growth of {kind}", ratio, "times", target=target, note=sizes)


def _quality_figures(market: _Market) -> Iterator[Figure]:
    for engine in ENGINES:
        arguments = str(market.folder), engine, market.intent_model
        judged = run(python("index_sentences", *arguments), {})
        target = None if engine == "fts5" else at_least(LEAST_TYPOS)
        typos = judged.pop("typos")
        yield Figure(f"index {engine} misspelled", typos["found"], _of(typos), target=target)
        for name, counts in judged.items():
            target = at_least(LEAST_FOUND[engine]) if name == "plain" else None
            yield Figure(
                f"index {engine} {name} sentences",
                counts["found"],
                _of(counts),
                target=target,
                note=f"{engine}, {name}: {counts['first']} first, {counts['rejected']} wrongly have"
                f" no fitting tool, {counts['recognized']} of {counts['without']} without a tool"
                " are recognized",
            )


def _of(counts: Mapping[str, int]) -> str:
    return f"of {counts['with']}"


def _localnet_figures(folder: Path, market: _Market) -> Iterator[Figure]:
    """Yield how fast an index follows a localnet, compared with how fast events arise there.

    The rates are events per CPU second: of the node while clients request and close invocations,
    of `index run`, which starts and reads these events once, and of the writer.
    """
    with chain.localnet_process(folder) as (network, node):
        history = History(network, home(folder))
        asyncio.run(history.prepare())
        before_s = node.cpu_s
        asyncio.run(history.invoke_until(LOCALNET_INVOCATIONS))
        arising = 2 * LOCALNET_INVOCATIONS / (node.cpu_s - before_s)
        before_s = children_cpu_s()
        run(nexus_tools("index", "run", "--once", "--json"), home(folder))
        followed = 2 * LOCALNET_INVOCATIONS / (children_cpu_s() - before_s)
    written = 2 * market.invocations / market.build["invocations"]["cpu_s"]
    for name, rate in (("index run", followed), ("index writer", written)):
        target = at_least_of_peer(1.0)
        yield Figure(
            f"{name} per CPU second",
            rate,
            "events",
            arising,
            "localnet",
            rate / arising,
            target,
        )
