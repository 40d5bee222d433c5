"""The outcomes of invocations while all processes are killed repeatedly.

Three Leaders with two workers each share the work of tools that have a price and sign their answers
for the chain. The benchmark kills processes with SIGKILL and restarts them: a Leader every three
seconds, the server of the tools every twenty seconds, and the node, which keeps its state, twice.
When all invocations are closed, the benchmark reads the chain from its start.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks import chain
from benchmarks.figure import Figure, at_least, at_most
from benchmarks.node import Node, free_port, node
from benchmarks.requests import request_many
from benchmarks.stage import NETWORK, SERVE, TOOL, Stage
from benchmarks.weather import LEADERS, Service, all_lost_mist, register_leader, weather
from nexus_tools.contracts import Deployment, event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.client import Cursor, EventRecord, RetryPolicy, SuiClient, follow_events
from nexus_tools.sui.types.address import Address

INVOCATIONS = 1_000
PER_REQUEST = 10
REQUESTS_LAST_S = 75.0
PRICE_SUI = "0.002"
MOST_FAILED_PERCENT = 0.3
_LIMIT_S = 300.0


def measure(folder: Path) -> Iterator[Figure]:
    """Yield how and how often invocations were closed, the number of kills, and the losses."""
    began = monotonic()
    storm = asyncio.run(_storm(folder))
    seconds = monotonic() - began
    yield Figure("storm requested", len(storm.requested), "", target=at_least(INVOCATIONS))
    once = sum(storm.closed[invocation] == 1 for invocation in storm.requested)
    yield Figure("storm closed once", once, "", target=at_least(len(storm.requested)))
    more = sum(count > 1 for count in storm.closed.values())
    yield Figure("storm closed more than once", more, "", target=at_most(0))
    failed = 100 * storm.failures.total() / len(storm.requested)
    note = ", ".join(f"{count} {reason}" for reason, count in storm.failures.items())
    yield Figure("storm failed", failed, "%", target=at_most(MOST_FAILED_PERCENT), note=note)
    lost, transactions = all_lost_mist(folder / "state")
    note = f"in {transactions} transactions"
    yield Figure("storm SUI lost", lost, "MIST", target=at_most(0), note=note)
    for what, count in storm.killed.items():
        yield Figure(f"storm {what} killed", count, "times")
    yield Figure("storm time", seconds, "s")


@dataclass(frozen=True, slots=True)
class _Storm:
    """The final state of the chain, and the number of kills."""

    requested: set[Address]
    closed: Counter[Address]
    failures: Counter[str]
    killed: Counter[str]


async def _storm(folder: Path) -> _Storm:
    with ExitStack() as stack:
        own = stack.enter_context(node(folder))
        own.start(folder / "state")
        stage = Stage(folder, own.network.url, own.network)
        deployment = await stage.publish()

        def service(name: str, command: Sequence[str], **settings: str) -> Service:
            made = Service(command, folder / f"{name}.log", stage.home | settings)
            made.start()
            stack.callback(made.end)
            return made

        leads = [await register_leader(stage, folder, name) for name in LEADERS]
        key = str(folder / "tools.pem")
        await stage.command("tool", "key", "new", key)
        state = str(folder / "tools.state")
        signing = ("--signing-key", key, "--network", NETWORK, "--state", state)
        tools = service("tools", [*SERVE, f"127.0.0.1:{free_port()}", *signing])
        named = [part for name in LEADERS for part in ("--leader", name)]
        terms = (
            "--price",
            PRICE_SUI,
            "--key",
            key,
            "--require-signed-outcome",
            "--skip-validation",
        )
        await stage.register_tools(tools.process, *terms, *named)
        leaders = [
            service(name, lead, NEXUS_TOOLS_LEADER_SIGNING_KEY=str(folder / f"{name}.pem"))
            for name, lead in zip(LEADERS, leads, strict=True)
        ]
        killed: Counter[str] = Counter()
        async with asyncio.timeout(_LIMIT_S), weather(own, folder, leaders, tools, killed):
            await _request(own, deployment)
        return await _tell(own, deployment, killed)


async def _request(own: Node, deployment: Deployment) -> None:
    """Request all invocations, a few per transaction, at regular intervals."""
    key = await chain.funded_key(own.network, 1_000 * chain.SUI)
    retry_policy = RetryPolicy(attempts=1_000, max_delay_s=0.5, call_timeout_s=60)
    async with SuiClient(own.network, key, retry_policy=retry_policy) as client:
        tool = await ToolRegistry(client, deployment).get(TOOL)
        began = monotonic()
        for start in range(0, INVOCATIONS, PER_REQUEST):
            numbers = range(start, start + PER_REQUEST)
            inputs = [{"dividend": number, "divisor": 7} for number in numbers]
            await request_many(client, deployment, tool, inputs)
            due = began + REQUESTS_LAST_S * (start + PER_REQUEST) / INVOCATIONS
            await asyncio.sleep(max(0.0, due - monotonic()))


# --- Results


async def _tell(own: Node, deployment: Deployment, killed: Counter[str]) -> _Storm:
    """Count the events from the start until all invocations are closed, and a short time longer."""
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
        storm.failures[f"{event.reason} ({event.detail})"] += 1
    elif isinstance(event, InvocationExpired):
        storm.failures["expired"] += 1
