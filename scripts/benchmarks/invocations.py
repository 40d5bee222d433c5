"""Invocations per second, from the request on chain to the outcome on chain, and their CPU time.

Localnet, tool server and one Leader run as users run them: each in its own process, set up with the
command line. A requester sends all requests of a round, several per transaction. The requester also
follows the events until the last invocation is settled. The Leader first has one worker, then two,
then four. In one stage, the Leader of another leader follows the same events and has no work.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from time import perf_counter, process_time
from typing import Any

from benchmarks import chain
from benchmarks.figure import Figure, at_least, at_most
from benchmarks.processes import Process, home, nexus_tools, run, started
from benchmarks.requests import request_many
from nexus_tools.contracts import Deployment, event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.client import EventRecord, SuiClient, follow_events
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

TARGET_PER_S = 60
TARGET_LEADER_MS = 2.2
TARGET_IDLE_MS = 0.2
ROUNDS = 3
INVOCATIONS = 300
PER_REQUEST = 50

_FQN = ToolFqn.parse("xyz.example.math.divide@1")
_SUI_FOR_SETUP = "50"
_SUI_FOR_WORKER = "2"
_WORKERS = ("bench", "second", "third", "fourth")
_IDLE = "idle"
_AFTERWARDS_S = 0.3


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the parallel rate, the latency of a single invocation, and the cost of each closing.

    The cost is the CPU time of each process, and the workers' gas minus rebates in MIST. All
    processes, including the requester, share the CPU cores. If all cores are busy, the rate is the
    limit of the machine.
    """
    with chain.localnet_process(folder) as (network, node), _stage(folder) as stage:
        with stage.leading(1) as leader:
            processes = {"Leader": leader, "node": node, "tool server": stage.tools}
            measured = _rounds(network, stage, list(processes.values()))
            rounds, alone = asyncio.run(measured)
        with stage.leading(1), stage.idling() as idle:
            foreign, _ = asyncio.run(_rounds(network, stage, [idle]))
        side_by_side = {}
        for count in (2, 4):
            with stage.leading(count) as leader:
                measured = _rounds(network, stage, [leader])
                side_by_side[count], _ = asyncio.run(measured)
    note = f"{INVOCATIONS} per round, {PER_REQUEST} requests per transaction, one Leader"
    rate = median(INVOCATIONS / one.seconds for one in rounds)
    yield Figure("invocations settled", rate, "/s", target=at_least(TARGET_PER_S), note=note)
    yield Figure("invocations latency, one at a time", median(alone) * 1e3, "ms")
    for place, name in enumerate(processes):
        cpu_ms = median(one.cpu_s[place] for one in rounds) / INVOCATIONS * 1e3
        target = at_most(TARGET_LEADER_MS) if name == "Leader" else None
        yield Figure(f"invocations CPU of the {name}", cpu_ms, "ms each", target=target)
    idle_ms = mean(one.cpu_s[0] for one in foreign) / INVOCATIONS * 1e3
    name = "idle Leader: CPU per invocation of others"
    yield Figure(name, idle_ms, "ms", target=at_most(TARGET_IDLE_MS))
    own_ms = median(one.own_cpu_s for one in rounds) / INVOCATIONS * 1e3
    yield Figure("invocations CPU of the requester", own_ms, "ms each")
    cores = median((sum(one.cpu_s) + one.own_cpu_s) / one.seconds for one in rounds)
    has = f"the machine has {len(os.sched_getaffinity(0))} cores"
    yield Figure("invocations busy cores", cores, "cores", note=has)
    yield Figure("invocations gas", median(one.gas_mist for one in rounds), "MIST each")
    for count, others in side_by_side.items():
        rate = median(INVOCATIONS / one.seconds for one in others)
        yield Figure(f"invocations settled, {count} workers", rate, "/s")
        cpu_ms = median(one.cpu_s[0] for one in others) / INVOCATIONS * 1e3
        yield Figure(f"invocations CPU of the Leader, {count} workers", cpu_ms, "ms each")


# --- The stage


@dataclass(frozen=True, slots=True)
class _Stage:
    """The setup in addition to the localnet."""

    deployment: Deployment
    tools: Process
    workers: tuple[Address, ...]
    folder: Path

    @contextmanager
    def leading(self, count: int) -> Iterator[Process]:
        """Run a Leader with `count` workers until the block ends."""
        with self._run_leader(f"leader{count}", *_WORKERS[:count]) as leader:
            leader.logged('"works"')
            yield leader

    @contextmanager
    def idling(self) -> Iterator[Process]:
        """Run the Leader of a leader that receives no invocations until the block ends."""
        with self._run_leader(_IDLE, _IDLE) as leader:
            leader.logged('"started"')
            yield leader

    @contextmanager
    def _run_leader(self, log_name: str, *workers: str) -> Iterator[Process]:
        keys = [part for name in workers for part in ("--worker", name)]
        lead = nexus_tools("leader", "run", "--allow-loopback", "--log-format", "json", *keys)
        with started(lead, self.folder / f"{log_name}.log", home(self.folder)) as leader:
            yield leader


@contextmanager
def _stage(folder: Path) -> Iterator[_Stage]:
    """Publish the package, and register the tools of the examples and a leader."""
    own = home(folder)

    def command(*arguments: str) -> Any:
        return run(nexus_tools(*arguments, "--json"), own)

    serve = nexus_tools("tool", "serve", "examples/tools.py", "--bind", "127.0.0.1:0")
    workers = [Address.parse(command("wallet", "new", name)["address"]) for name in _WORKERS]
    command("wallet", "use", "bench")
    command("localnet", "faucet", "--amount", _SUI_FOR_SETUP)
    command("wallet", "new", _IDLE)
    for name in (*_WORKERS[1:], _IDLE):
        command("localnet", "faucet", name, "--amount", _SUI_FOR_WORKER)
    deployment = Deployment.parse(command("package", "publish", "--yes"))
    with started(serve, folder / "tools.log", own) as tools:
        # The server prints `✓ xyz.example.math.divide@1 at http://127.0.0.1:…/divide`.
        root = tools.logged(f"{_FQN} at ").rpartition(" at ")[2].rpartition("/")[0]
        command("tool", "register", "--url", root, "--all", "--yes")
        keys = [part for name in _WORKERS for part in ("--worker", name)]
        command("leader", "register", "--name", "bench", *keys, "--yes")
        command("leader", "register", "--name", _IDLE, "--worker", _IDLE, "--inactive", "--yes")
        yield _Stage(deployment, tools, tuple(workers), folder)


# --- The rounds


@dataclass(frozen=True, slots=True)
class _Round:
    """The duration of a round, the CPU time of each process during it, and the gas of a closing.

    `own_cpu_s` is the CPU time of this process, which is the requester and the observer.
    """

    seconds: float
    cpu_s: tuple[float, ...]
    own_cpu_s: float
    gas_mist: float


async def _rounds(
    network: Network, stage: _Stage, processes: Sequence[Process]
) -> tuple[list[_Round], list[float]]:
    """Return each parallel round, and the seconds of single invocations."""
    key = await chain.funded_key(network, 100 * chain.SUI)
    async with SuiClient(network, key) as client, SuiClient(network) as observer:
        tool = await ToolRegistry(client, stage.deployment).get(_FQN)
        crowd = _Crowd(client, observer, stage.deployment, tool)
        # The first invocations open connections and fill the Leader's caches.
        alone = [await crowd.seconds(1) for _ in range(8)]
        rounds = [await _round(crowd, processes, stage.workers) for _ in range(ROUNDS)]
        return rounds, alone[3:]


async def _round(
    crowd: "_Crowd", processes: Sequence[Process], workers: Sequence[Address]
) -> _Round:
    had_mist = await crowd.balance(workers)
    before = [process.cpu_s for process in processes]
    own_before_s = process_time()
    seconds = await crowd.seconds(INVOCATIONS)
    # The Leader still processes the events that the observer has seen.
    await asyncio.sleep(_AFTERWARDS_S)
    after = [process.cpu_s for process in processes]
    cpu_s = tuple(b - a for a, b in zip(before, after, strict=True))
    own_cpu_s = process_time() - own_before_s
    gas_mist = crowd.fees_mist - (await crowd.balance(workers) - had_mist)
    return _Round(seconds, cpu_s, own_cpu_s, gas_mist / INVOCATIONS)


@dataclass(slots=True)
class _Crowd:
    """A requester, and an observer of settlements and their fees."""

    client: SuiClient
    observer: SuiClient
    deployment: Deployment
    tool: Tool
    fees_mist: int = 0

    async def balance(self, owners: Sequence[Address]) -> int:
        """Return the total balance of addresses, in MIST."""
        return sum([await self.observer.balance(owner) for owner in owners])

    async def seconds(self, count: int) -> float:
        """Return the time until `count` invocations are requested and settled."""
        closed: dict[Address, float] = {}
        watching = asyncio.Event()
        enough = asyncio.Event()
        self.fees_mist = 0
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
                    closed[_settled(event).invocation] = perf_counter()
                    self.fees_mist += _settled(event).fee_mist
                    if len(closed) == count:
                        enough.set()


def _settled(event: object) -> InvocationSettled:
    if not isinstance(event, InvocationSettled):
        raise TypeError(f"an invocation was not settled: {event}")
    return event


async def _first(event: asyncio.Event, task: "asyncio.Task[None]") -> None:
    """Wait for an event that a task sets. Raise the exceptions of the task."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        task.result()
