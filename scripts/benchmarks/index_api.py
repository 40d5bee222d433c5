"""The read API of an index under 100 readers, each with a pause of about a second, and 20 streams.

The index has 10 000 tools and 20 000 invocations, and grows by ten invocations a second.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from time import perf_counter

import aiohttp

from benchmarks.figure import Figure, at_least, at_most
from benchmarks.index_api_server import TOOLS

READERS = 100
STREAMS = 20
SECONDS = 60.0
PAUSE_S = 1.0
TARGET_MS = 50.0
PATHS = (
    "/api/tools",
    "/api/tools?sort=reputation&limit=20",
    "/api/tools?q=number+{number}",
    "/api/tools/xyz.domain.tool{number}@1",
    "/api/invocations",
    "/api/invocations?tool=xyz.domain.tool{number}@1",
    "/api/leaders",
    "/api/stats",
    "/api/status",
)


class Load:
    """The readers and streams, and what they saw.

    The readers choose among the paths, and replace `{number}` by the number of one of `tools`.
    """

    def __init__(self, session: aiohttp.ClientSession, paths: Sequence[str], tools: int) -> None:
        self._session = session
        self._paths = paths
        self._tools = tools
        self._end = perf_counter() + SECONDS
        self.times_ms: list[float] = []
        self.errors = 0
        self.events = [0] * STREAMS

    async def run(self) -> None:
        """Run all readers and streams to the end."""
        async with asyncio.TaskGroup() as group:
            for number in range(READERS):
                group.create_task(self._read(Random(number)))
            for number in range(STREAMS):
                group.create_task(self._follow(number))

    async def _read(self, random: Random) -> None:
        await asyncio.sleep(random.random() * PAUSE_S)
        while perf_counter() < self._end:
            path = random.choice(self._paths).format(number=random.randrange(self._tools))
            begin = perf_counter()
            async with self._session.get(path) as response:
                await response.read()
                self.errors += response.status != 200
            self.times_ms.append((perf_counter() - begin) * 1_000)
            await asyncio.sleep(PAUSE_S * (0.5 + random.random()))

    async def _follow(self, number: int) -> None:
        try:
            async with (
                asyncio.timeout(self._end - perf_counter()),
                self._session.get("/api/events") as response,
            ):
                async for line in response.content:
                    self.events[number] += line.startswith(b"data:")
        except TimeoutError:
            return
        self.errors += 1


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the 95th percentile of the response times, and the number of errors."""
    load, cpu_share = run_load(folder, PATHS, TOOLS)
    note = f"{len(load.times_ms)} requests; each stream received {min(load.events)} events or more"
    slow_ms = p95(load.times_ms)
    yield Figure("index_api p95", slow_ms, "ms", target=at_most(TARGET_MS), note=note)
    yield Figure("index_api server", cpu_share, "% of a core")
    yield Figure("index_api errors", load.errors, "errors", target=at_most(0))
    least = SECONDS * 10 * 0.5
    yield Figure("index_api events", min(load.events), "events", target=at_least(least))


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(len(values) * 0.95)]


def run_load(
    folder: Path, paths: Sequence[str], tools: int, node_url: str = ""
) -> tuple[Load, float]:
    """Return the load on a server, and how much of a core the server used, in percent.

    With the URL of a node, the server also has the pages of the explorer.
    """
    return asyncio.run(_run(folder, paths, tools, node_url))


async def _run(folder: Path, paths: Sequence[str], tools: int, node_url: str) -> tuple[Load, float]:
    async with _server(folder, node_url) as (process, url), _session(url) as session:
        load = Load(session, paths, tools)
        before_s = _cpu_s(process.pid)
        await load.run()
        return load, (_cpu_s(process.pid) - before_s) / SECONDS * 100


def _session(url: str) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=READERS + STREAMS)
    return aiohttp.ClientSession(url, connector=connector)


@asynccontextmanager
async def _server(
    folder: Path, node_url: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.index_api_server", str(folder), node_url),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        yield process, line.decode().strip()
    finally:
        process.terminate()
        await process.wait()


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process in seconds. Linux counts in units of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
