"""What becomes of invocations while everything is killed that can be.

Three Leaders with two workers each share the work of tools that have a price and sign their
answers for the chain. One Leader is killed with SIGKILL every three seconds and started again, the
server of the tools every twenty, and the node, with its state, twice. When all invocations are
closed, the chain is read from its beginning.
"""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from time import monotonic

from benchmarks import chain
from benchmarks.figure import Figure, at_least, at_most
from benchmarks.node import Node, free_port, node
from benchmarks.processes import started
from benchmarks.requests import request_many
from benchmarks.stage import NETWORK, SERVE, TOOL, Stage
from fuzzing.money import lost_mist
from nexus_tools.client import Cursor, EventRecord, Patience, SuiClient, follow_events
from nexus_tools.localnet import node as localnet_node
from nexus_tools.package import Deployment, event_filter, parse_event
from nexus_tools.package.move.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.address import Address

INVOCATIONS = 1_000
PER_REQUEST = 10
REQUESTS_LAST_S = 75.0
LEADERS = ("ann", "bob", "eve")
PRICE_SUI = "0.002"
LEADER_DIES_EVERY_S = 3.0
TOOLS_DIE_EVERY_S = 20.0
NODE_DIES_AFTER_S = (20.0, 50.0)
NODE_IS_AWAY_S = 1.0
MOST_FAILED_PERCENT = 1
_LIMIT_S = 300.0
_TRANSACTIONS_AT_ONCE = 500


def measure(folder: Path) -> Iterator[Figure]:
    """How often invocations were closed and how, what was killed, and what was lost."""
    began = monotonic()
    storm = asyncio.run(_storm(folder))
    seconds = monotonic() - began
    yield Figure("storm requested", len(storm.requested), "", target=at_least(INVOCATIONS))
    once = sum(storm.closed[each] == 1 for each in storm.requested)
    yield Figure("storm closed once", once, "", target=at_least(len(storm.requested)))
    more = sum(count > 1 for count in storm.closed.values())
    yield Figure("storm closed twice", more, "", target=at_most(0))
    failed = 100 * storm.failures.total() / len(storm.requested)
    note = ", ".join(f"{count} {reason}" for reason, count in storm.failures.items())
    yield Figure("storm failed", failed, "%", target=at_most(MOST_FAILED_PERCENT), note=note)
    lost, transactions = _lost_mist(folder / "state")
    note = f"in {transactions} transactions"
    yield Figure("storm SUI lost", lost, "MIST", target=at_most(0), note=note)
    for what, count in storm.killed.items():
        yield Figure(f"storm {what} killed", count, "times")
    yield Figure("storm time", seconds, "s")


@dataclass(frozen=True, slots=True)
class _Storm:
    """What the chain tells in the end, and what was killed how often."""

    requested: set[Address]
    closed: Counter[Address]
    failures: Counter[str]
    killed: Counter[str]


class _Service:
    """A process that can be killed and started again, always with the same command."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self._how = command, log, environment
        self._running = ExitStack()

    def start(self) -> None:
        """Start it; `process` is what runs."""
        self.process = self._running.enter_context(started(*self._how))

    def end(self) -> None:
        """End it as an operator does."""
        self._running.close()

    def revive(self) -> None:
        """Kill it without a chance to say or write anything, and start it again."""
        self.process.send(signal.SIGKILL)
        self.end()
        self.start()


async def _storm(folder: Path) -> _Storm:
    with ExitStack() as stack:
        own = stack.enter_context(node(folder))
        own.start(folder / "state")
        stage = Stage(folder, own.network.url, own.network)
        deployment = await stage.publish()

        def service(name: str, command: Sequence[str], **settings: str) -> _Service:
            made = _Service(command, folder / f"{name}.log", stage.home | settings)
            made.start()
            stack.callback(made.end)
            return made

        leads = [await _register_leader(stage, folder, name) for name in LEADERS]
        key = str(folder / "tools.pem")
        await stage.command("tool", "key", "new", key)
        state = str(folder / "tools.state")
        signing = ("--signing-key", key, "--network", NETWORK, "--state", state)
        tools = service("tools", [*SERVE, f"127.0.0.1:{free_port()}", *signing])
        named = [part for name in LEADERS for part in ("--leader", name)]
        terms = ("--price", PRICE_SUI, "--key", key, "--require-signed-outcome", "--unchecked")
        await stage.register_tools(tools.process, *terms, *named)
        leaders = [
            service(name, lead, NEXUS_TOOLS_LEADER_SIGNING_KEY=str(folder / f"{name}.pem"))
            for name, lead in zip(LEADERS, leads, strict=True)
        ]
        killed: Counter[str] = Counter()
        async with asyncio.timeout(_LIMIT_S), _weather(own, folder, leaders, tools, killed):
            await _request(own, deployment)
        return await _tell(own, deployment, killed)


async def _register_leader(stage: Stage, folder: Path, name: str) -> Sequence[str]:
    """Register a leader that signs its calls, with two workers; the command that runs it."""
    second = f"{name}-2"
    await stage.new_wallet(name, 100 * chain.SUI)
    await stage.new_wallet(second, chain.SUI)
    key = str(folder / f"{name}.pem")
    await stage.command("leader", "key", "new", key)
    workers = ("--worker", name, "--worker", second)
    await stage.register_leader(name, *workers, "--key", key)
    return stage.lead(name, *workers)


# --- The storm


@asynccontextmanager
async def _weather(
    own: Node,
    folder: Path,
    leaders: Sequence[_Service],
    tools: _Service,
    killed: Counter[str],
) -> AsyncIterator[None]:
    """The time in which everything is killed again and again."""
    next_leader = cycle(leaders)

    async def every(seconds: float, what: str, revive: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(revive)
            killed[what] += 1

    async def node_dies() -> None:
        began = monotonic()
        for moment in NODE_DIES_AFTER_S:
            await asyncio.sleep(began + moment - monotonic())
            await asyncio.to_thread(own.kill)
            await asyncio.sleep(NODE_IS_AWAY_S)
            await asyncio.to_thread(own.start, folder / "state")
            killed["node"] += 1

    strikes = [
        asyncio.create_task(
            every(LEADER_DIES_EVERY_S, "leaders", lambda: next(next_leader).revive())
        ),
        asyncio.create_task(every(TOOLS_DIE_EVERY_S, "tools", tools.revive)),
        asyncio.create_task(node_dies()),
    ]
    try:
        yield
    finally:
        for strike in strikes:
            strike.cancel()
        await asyncio.wait(strikes)


async def _request(own: Node, deployment: Deployment) -> None:
    """Request all invocations, a few with each transaction, evenly over the time."""
    key = await chain.funded_key(own.network, 1_000 * chain.SUI)
    patience = Patience(attempts=1_000, longest_pause_s=0.5, call_timeout_s=60)
    async with SuiClient(own.network, key, patience=patience) as client:
        tool = await ToolRegistry(client, deployment).get(TOOL)
        began = monotonic()
        for start in range(0, INVOCATIONS, PER_REQUEST):
            numbers = range(start, start + PER_REQUEST)
            inputs = [{"dividend": number, "divisor": 7} for number in numbers]
            await request_many(client, deployment, tool, inputs)
            due = began + REQUESTS_LAST_S * (start + PER_REQUEST) / INVOCATIONS
            await asyncio.sleep(max(0.0, due - monotonic()))


# --- What came of it


async def _tell(own: Node, deployment: Deployment, killed: Counter[str]) -> _Storm:
    """Follow the events from the beginning until all that was requested is closed, and beyond."""
    kinds = event_filter(
        deployment, InvocationRequested, InvocationSettled, InvocationFailed, InvocationExpired
    )
    storm = _Storm(set(), Counter(), Counter(), killed)
    async with (
        SuiClient(own.network) as client,
        asyncio.timeout(_LIMIT_S),
        aclosing(follow_events(client, kinds, Cursor.beginning())) as items,
    ):
        async for item in items:
            if isinstance(item, EventRecord):
                _count(storm, parse_event(deployment, item.event))
            enough = len(storm.requested) >= INVOCATIONS
            if enough and storm.closed.keys() >= storm.requested:
                return storm
    raise AssertionError("events are followed without end")


def _count(storm: _Storm, event: object) -> None:
    if isinstance(event, InvocationRequested):
        storm.requested.add(event.invocation)
        return
    assert isinstance(event, InvocationSettled | InvocationFailed | InvocationExpired)
    storm.closed[event.invocation] += 1
    if isinstance(event, InvocationFailed):
        storm.failures[event.reason] += 1
    elif isinstance(event, InvocationExpired):
        storm.failures["expired"] += 1


def _lost_mist(state: Path) -> tuple[int, int]:
    """What all transactions together lost, and how many they were; genesis made what there is."""
    own = localnet_node.Node.open(state)
    lost, number = 0, 1
    try:
        while found := own.ledger.transactions(number, _TRANSACTIONS_AT_ONCE):
            lost += sum(abs(lost_mist(own, each)) for each in found)
            number += len(found)
    finally:
        own.close()
    return lost, number - 1
