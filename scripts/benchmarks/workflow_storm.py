"""The results of workflow executions while all processes are killed repeatedly.

Three Leaders with two workers each dispatch executions of six vertices, with a `for_each` and a
join. Until the last execution has ended, the benchmark kills processes with SIGKILL and restarts
them. The benchmark kills a Leader every three seconds and the server of the tools every twenty
seconds. It kills the node twice, and the node keeps its state. A run that fails or expires is tried
once more. Then the benchmark reads the chain from its start.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from time import monotonic

from benchmarks import chain
from benchmarks.figure import Figure, at_least, at_most
from benchmarks.flow_stage import PROTOCOL, SERVE_FLOWS
from benchmarks.flows import ECHO, six
from benchmarks.node import Node, free_port, node
from benchmarks.stage import Stage
from benchmarks.weather import LEADERS, Service, all_lost_mist, register_leader, weather
from nexus_tools.contracts import Deployment, PackageClient, event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationExpired,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.workflows.execution import (
    Execution,
    ExecutionAdvanced,
    ExecutionEnded,
)
from nexus_tools.registry import Executions, LeaderRegistry, Workflows
from nexus_tools.sui.client import (
    Cursor,
    EventRecord,
    RetryPolicy,
    SuiClient,
    follow_events,
    past_events,
)
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.types.address import Address

EXECUTIONS = 200
WORDS = 3
RUNS = 5 + WORDS
BEGINNINGS_LAST_S = 75.0
PRICE_SUI = "0.002"
MOST_FAILED_PERCENT = 0.3
_LIMIT_S = 400.0
_FQN = "xyz.example.bench.six@1"

Run = tuple[Address, int, tuple[int, ...]]
"""A run: its execution, vertex and path."""


def measure(folder: Path) -> Iterator[Figure]:
    """Yield how executions ended, how often runs were closed, and the lost and locked amounts."""
    began = monotonic()
    storm = asyncio.run(_storm(folder))
    seconds = monotonic() - began
    ended, runs = storm.ended, storm.attempts.keys()
    yield Figure("workflow_storm ended", len(ended), "", target=at_least(EXECUTIONS))
    twice = sum(count > 1 for count in ended.values())
    yield Figure("workflow_storm ended more than once", twice, "", target=at_most(0))
    done = storm.statuses["completed"]
    note = ", ".join(f"{count} {status}" for status, count in storm.statuses.items())
    yield Figure("workflow_storm completed", done, "", target=at_least(EXECUTIONS), note=note)
    yield Figure("workflow_storm runs", len(runs), "", target=at_least(EXECUTIONS * RUNS))
    once = sum(storm.is_once(invocations) for invocations in storm.attempts.values())
    yield Figure("workflow_storm runs closed once", once, "", target=at_least(len(runs)))
    failed = 100 * storm.failures.total() / len(storm.closed)
    note = ", ".join(f"{count} {reason}" for reason, count in storm.failures.items())
    target = at_most(MOST_FAILED_PERCENT)
    yield Figure("workflow_storm attempts failed", failed, "%", target=target, note=note)
    yield Figure("workflow_storm SUI locked", storm.locked_mist, "MIST", target=at_most(0))
    lost, transactions = all_lost_mist(folder / "state")
    note = f"in {transactions} transactions"
    yield Figure("workflow_storm SUI lost", lost, "MIST", target=at_most(0), note=note)
    for what, count in storm.killed.items():
        yield Figure(f"workflow_storm {what} killed", count, "times")
    yield Figure("workflow_storm time", seconds, "s")


@dataclass(slots=True)
class _Storm:
    """The final state of the chain, and the number of kills.

    `attempts` are the invocations of each run. Each invocation must be closed once, and its outcome
    must be accepted once. `locked_mist` is the amount that executions and invocations still lock.
    """

    killed: Counter[str]
    ended: Counter[Address] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    attempts: dict[Run, list[Address]] = field(default_factory=dict)
    closed: Counter[Address] = field(default_factory=Counter)
    settled: Counter[Address] = field(default_factory=Counter)
    advanced: Counter[Address] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    locked_mist: int = 0

    def is_once(self, invocations: Sequence[Address]) -> bool:
        """Return whether a run was settled once, after attempts that were each closed once."""
        return sum(self.settled[invocation] for invocation in invocations) == 1 and all(
            self.closed[invocation] == self.advanced[invocation] == 1 for invocation in invocations
        )

    def see(self, event: object) -> None:
        """Count an event."""
        match event:
            case ExecutionEnded():
                self.ended[event.execution] += 1
                self.statuses[event.status] += 1
            case InvocationRequested(attempt=attempt) if attempt is not None:
                run = attempt.execution, attempt.run.vertex, tuple(attempt.run.path)
                self.attempts.setdefault(run, []).append(event.invocation)
            case ExecutionAdvanced():
                self.advanced[event.invocation] += 1
            case InvocationSettled():
                self.closed[event.invocation] += 1
                self.settled[event.invocation] += 1
            case InvocationFailed():
                self.closed[event.invocation] += 1
                self.failures[f"{event.reason} ({event.detail})"] += 1
            case InvocationExpired():
                self.closed[event.invocation] += 1
                self.failures["expired"] += 1


async def _storm(folder: Path) -> _Storm:
    with ExitStack() as stack:
        own = stack.enter_context(node(folder, "--protocol-version", str(PROTOCOL)))
        own.start(folder / "state")
        stage = Stage(folder, own.network.url, own.network)
        deployment = await stage.publish()

        def service(name: str, command: Sequence[str], **settings: str) -> Service:
            made = Service(command, folder / f"{name}.log", stage.home | settings)
            made.start()
            stack.callback(made.end)
            return made

        leads = [await register_leader(stage, folder, name) for name in LEADERS]
        tools = service("tools", [*SERVE_FLOWS, f"127.0.0.1:{free_port()}"])
        named = [part for name in LEADERS for part in ("--leader", name)]
        terms = ("--price", PRICE_SUI, "--skip-validation")
        await stage.register_tools(tools.process, *terms, *named, tool=ECHO)
        leaders = [
            service(name, lead, NEXUS_TOOLS_LEADER_SIGNING_KEY=str(folder / f"{name}.pem"))
            for name, lead in zip(LEADERS, leads, strict=True)
        ]
        storm = _Storm(Counter())
        async with (
            asyncio.timeout(_LIMIT_S),
            weather(own, folder, leaders, tools, storm.killed),
        ):
            await asyncio.gather(_begin(own, deployment), _until_ended(own, deployment))
        await _tell(own, deployment, storm)
        return storm


def _patient(own: Node, key: KeyPair | None = None) -> SuiClient:
    """Return a client that waits for an unreachable node."""
    retry_policy = RetryPolicy(attempts=1_000, max_delay_s=0.5, call_timeout_s=60)
    return SuiClient(own.network, key, retry_policy=retry_policy)


async def _begin(own: Node, deployment: Deployment) -> None:
    """Publish the workflow, and start all executions at regular intervals."""
    async with _patient(own, await chain.funded_key(own.network, 1_000 * chain.SUI)) as client:
        workflows = Workflows(client, deployment)
        await workflows.publish(six(), _FQN)
        workflow, executions = await workflows.get(_FQN), Executions(client, deployment)
        page = await LeaderRegistry(client, deployment).list()
        leaders = cycle([leader.id for leader in page.items])
        text = " ".join(["word"] * WORDS)
        began = monotonic()
        for number in range(EXECUTIONS):
            # The executions are divided equally among the leaders.
            two = next(leaders), next(leaders)
            await executions.start(workflow, {"first.text": text}, leaders=two)
            due = began + BEGINNINGS_LAST_S * (number + 1) / EXECUTIONS
            await asyncio.sleep(max(0.0, due - monotonic()))


# --- Results


async def _until_ended(own: Node, deployment: Deployment) -> None:
    """Wait until all started executions have ended."""
    ended = set()
    async with (
        _patient(own) as client,
        aclosing(
            follow_events(client, event_filter(deployment, ExecutionEnded), Cursor.beginning())
        ) as items,
    ):
        async for item in items:
            if isinstance(item, EventRecord):
                event = parse_event(deployment, item.event)
                assert isinstance(event, ExecutionEnded)
                ended.add(event.execution)
            if len(ended) >= EXECUTIONS:
                return


async def _tell(own: Node, deployment: Deployment, storm: _Storm) -> None:
    """Read all events and the amounts that are still locked."""
    async with SuiClient(own.network) as client:
        kinds = event_filter(
            deployment,
            ExecutionEnded,
            ExecutionAdvanced,
            InvocationRequested,
            InvocationSettled,
            InvocationFailed,
            InvocationExpired,
        )
        async for record in past_events(client, kinds):
            storm.see(parse_event(deployment, record.event))
        package = PackageClient(client, deployment)
        executions = await package.find_all(list(storm.ended), Execution)
        asked = [attempt for one in storm.attempts.values() for attempt in one]
        invocations = await package.find_all(asked, Invocation)
    storm.locked_mist = sum(execution.funds for execution in executions if execution is not None)
    storm.locked_mist += sum(
        invocation.payment_mist for invocation in invocations if invocation is not None
    )
