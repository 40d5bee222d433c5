"""Invocations per second, from the request on chain to the outcome on chain.

Localnet, tool server and one Leader run as users run them, each in a process of its own and set up
with the command line. A requester sends all requests of a round, several with one transaction, and
follows the events until the last invocation is settled.
"""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks import chain
from benchmarks.figure import Figure, at_least
from benchmarks.processes import home, nexus_tools, run, started
from benchmarks.requests import request_many
from nexus_tools.client import EventRecord, Network, SuiClient, follow_events
from nexus_tools.registry import Deployment, Tool, ToolRegistry, event_filter, parse_event
from nexus_tools.registry.events import InvocationExpired, InvocationFailed, InvocationSettled
from nexus_tools.sui.address import Address
from nexus_tools.tool import ToolFqn

TARGET_PER_S = 60
ROUNDS = 3
INVOCATIONS = 300
PER_REQUEST = 50

_FQN = ToolFqn.parse("xyz.example.math.divide@1")
_SUI_FOR_SETUP = "50"


def measure(folder: Path) -> Iterator[Figure]:
    """One figure."""
    with chain.localnet(folder) as network, _stage(folder) as deployment:
        rates, latencies = asyncio.run(_rounds(network, deployment))
    note = f"{INVOCATIONS} a round, requested {PER_REQUEST} with one transaction; one Leader"
    target = at_least(TARGET_PER_S)
    yield Figure("invocations settled", median(rates), "/s", target=target, note=note)
    yield Figure("invocations latency alone", median(latencies) * 1e3, "ms")


# --- The stage


@contextmanager
def _stage(folder: Path) -> Iterator[Deployment]:
    """The package published, the tools of the examples registered, and a Leader that works."""
    own = home(folder)

    def command(*arguments: str) -> Any:
        return run(nexus_tools(*arguments, "--json"), own)

    serve = nexus_tools("tool", "serve", "examples/tools.py", "--bind", "127.0.0.1:0")
    lead = nexus_tools("leader", "run", "--allow-loopback", "--log-format", "json")
    command("wallet", "new", "bench")
    command("localnet", "faucet", "--amount", _SUI_FOR_SETUP)
    deployment = Deployment.parse(command("package", "publish", "--yes"))
    with started(serve, folder / "tools.log", own) as tools:
        # It says `✓ xyz.example.math.divide@1 at http://127.0.0.1:…/divide`.
        root = tools.logged(f"{_FQN} at ").rpartition(" at ")[2].rpartition("/")[0]
        command("tool", "register", "--url", root, "--all", "--yes")
        command("leader", "register", "--name", "bench", "--yes")
        with started(lead, folder / "leader.log", own) as leader:
            leader.logged(" works")
            yield deployment


# --- The rounds


async def _rounds(network: Network, deployment: Deployment) -> tuple[list[float], list[float]]:
    """Settled invocations per second, for each round; seconds that one takes alone."""
    key = await chain.funded_key(network, 100 * chain.SUI)
    async with SuiClient(network, key) as client, SuiClient(network) as observer:
        tool = await ToolRegistry(client, deployment).get(_FQN)
        crowd = _Crowd(client, observer, deployment, tool)
        # The first ones open connections and read what a Leader remembers afterwards.
        alone = [await crowd.seconds(1) for _ in range(8)]
        rates = [INVOCATIONS / await crowd.seconds(INVOCATIONS) for _ in range(ROUNDS)]
        return rates, alone[3:]


@dataclass(frozen=True, slots=True)
class _Crowd:
    """A requester, and an observer who sees what is settled."""

    client: SuiClient
    observer: SuiClient
    deployment: Deployment
    tool: Tool

    async def seconds(self, count: int) -> float:
        """How long it takes until so many invocations are requested and settled."""
        closed: dict[Address, float] = {}
        watching = asyncio.Event()
        enough = asyncio.Event()
        watch = asyncio.create_task(self._watch(closed, count, watching, enough))
        try:
            await _first(watching, watch)
            begin = perf_counter()
            requested = await self._request(count)
            await _first(enough, watch)
        finally:
            watch.cancel()
        return max(closed[invocation] for invocation in requested) - begin

    async def _request(self, count: int) -> list[Address]:
        requested: list[Address] = []
        for start in range(0, count, PER_REQUEST):
            numbers = range(start, min(start + PER_REQUEST, count))
            inputs = [{"dividend": number, "divisor": 7} for number in numbers]
            requested += await request_many(self.client, self.deployment, self.tool, inputs)
        return requested

    async def _watch(
        self,
        closed: dict[Address, float],
        count: int,
        watching: asyncio.Event,
        enough: asyncio.Event,
    ) -> None:
        kinds = event_filter(
            self.deployment, InvocationSettled, InvocationFailed, InvocationExpired
        )
        async with aclosing(follow_events(self.observer, kinds)) as items:
            async for item in items:
                watching.set()
                if isinstance(item, EventRecord):
                    event = parse_event(self.deployment, item.event)
                    closed[_settled(event)] = perf_counter()
                    if len(closed) == count:
                        enough.set()


def _settled(event: object) -> Address:
    if not isinstance(event, InvocationSettled):
        raise TypeError(f"an invocation was not settled: {event}")
    return event.invocation


async def _first(event: asyncio.Event, task: "asyncio.Task[None]") -> None:
    """Wait for an event that a task sets; raise what the task raises."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        task.result()
