"""The pages of the explorer in a large market, and under the load of 100 readers and 20 streams.

The pages of the market are requested one after the other. Each kind of page has many examples,
whose paths are links on other pages. Lists are requested with different limits, because the
explorer renders a list once for all readers of a second. The load is the load of `index_api` on an
index that grows.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter

import aiohttp

from benchmarks.figure import Figure, at_most
from benchmarks.index_api import TARGET_MS, p95, run_load
from benchmarks.index_api_server import TOOLS as GROWING_TOOLS
from benchmarks.index_market import market_tool
from benchmarks.node import node
from benchmarks.processes import python, started

TOOLS, INVOCATIONS = 30_000, 500_000
FULL_TOOLS, FULL_INVOCATIONS = 300_000, 10_000_000
MAX_BYTES = 100_000
EXAMPLES = 50
LIMITS = range(21, 51)
"""The numbers of rows of lists. The default is 30. The home page ignores the parameter."""
REQUESTS = 150
"""The number of requests for each kind of page."""
BUILD_S = 6 * 3_600.0
LISTS = {
    "home": ("/",),
    "tools": ("/tools", "/tools?sort=reputation", "/tools?state=active&max_price=0.01"),
    "search": ("/tools?q=weather+forecast", "/tools?q=count", "/tools?q=image"),
    "invocations": ("/invocations", "/invocations?outcome=settled"),
    "leaders": ("/leaders",),
}
LOAD = ("/", "/tools", "/tools?q=number+{number}", "/tools/xyz.domain.tool{number}@1", "/leaders")
_LINK = re.compile(r'href="/(tools|invocations|leaders|accounts)/([^"?#]+)"')


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the figures of a market that takes a few minutes."""
    yield from _measure(folder, TOOLS, INVOCATIONS)


def measure_full(folder: Path) -> Iterator[Figure]:
    """Yield the figures of the largest market. They take more than an hour."""
    yield from _measure(folder, FULL_TOOLS, FULL_INVOCATIONS)


def _measure(folder: Path, tools: int, invocations: int) -> Iterator[Figure]:
    market, growing = folder / "market", folder / "growing"
    for path in (market, growing):
        path.mkdir()
    with node(folder) as own:
        own.start(folder / "state")
        arguments = (str(market), str(tools), str(invocations), own.network.url)
        with started(python("explorer_server", *arguments), folder / "explorer.log") as server:
            yield from asyncio.run(_read_pages(server.line(BUILD_S), tools))
        load, cpu_share = run_load(growing, LOAD, GROWING_TOOLS, own.network.url)
    note = f"{len(load.times_ms)} pages; each stream received {min(load.events)} events or more"
    yield Figure(
        "explorer load p95", p95(load.times_ms), "ms", target=at_most(TARGET_MS), note=note
    )
    yield Figure("explorer load server", cpu_share, "% of a core")
    yield Figure("explorer load errors", load.errors, "errors", target=at_most(0))


async def _read_pages(url: str, tools: int) -> list[Figure]:
    """Return the response time and the size of each kind of page."""
    figures = []
    async with aiohttp.ClientSession(url) as session:
        for kind, paths in (await _examples(session, tools)).items():
            times_ms, sizes = [], []
            for path in islice(cycle(paths), REQUESTS):
                begin = perf_counter()
                async with session.get(path) as response:
                    response.raise_for_status()
                    sizes.append(len(await response.read()))
                times_ms.append((perf_counter() - begin) * 1_000)
            note = f"{kind}: {len(paths)} pages, median {median(times_ms):.1f} ms"
            figures += [
                Figure(f"explorer {kind} p95", p95(times_ms), "ms", target=at_most(50), note=note),
                Figure(f"explorer {kind} size", max(sizes), "bytes", target=at_most(MAX_BYTES)),
            ]
    return figures


async def _examples(session: aiohttp.ClientSession, tools: int) -> dict[str, list[str]]:
    """Return the paths to read, by kind: the lists, and pages to which the pages of tools lead."""
    chosen = [market_tool(number * tools // EXAMPLES, tools).fqn for number in range(EXAMPLES)]
    found = {"tool": dict.fromkeys(f"/tools/{fqn}" for fqn in chosen)}
    for path in ("/", "/leaders", *found["tool"]):
        async with session.get(path) as response:
            for kind, name in _LINK.findall(await response.text()):
                if kind != "tools":
                    found.setdefault(kind.removesuffix("s"), {})[f"/{kind}/{name}"] = None
    lists = {kind: [*_with_limits(paths)] for kind, paths in LISTS.items()}
    return lists | {kind: [*paths][:EXAMPLES] for kind, paths in found.items()}


def _with_limits(paths: Sequence[str]) -> Iterator[str]:
    """Yield the paths of lists with each limit."""
    for limit in LIMITS:
        for path in paths:
            yield f"{path}{'&' if '?' in path else '?'}limit={limit}"
