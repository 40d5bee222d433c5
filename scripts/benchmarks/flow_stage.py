"""The setup of workflow benchmarks: a node, tools, one Leader, and an owner of executions."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from benchmarks import chain
from benchmarks.flows import ECHO
from benchmarks.node import Node, node
from benchmarks.processes import nexus_tools, started
from benchmarks.stage import Stage
from nexus_tools.contracts import Deployment, event_filter, parse_event
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionEnded
from nexus_tools.registry import LeaderRegistry, PublishedWorkflow, Workflows
from nexus_tools.sui.client import EventRecord, SuiClient, follow_events
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Document

SERVE_FLOWS = nexus_tools("tool", "serve", "scripts/benchmarks/flow_tools.py", "--bind")
"""The command of a server of the workflow tools, without the address."""

PROTOCOL = 140
"""The newest protocol version that the localnet supports."""


@dataclass(frozen=True, slots=True)
class WorkflowSetup:
    """The setup. `client` signs as the owner. `workers` are addresses of the Leader's workers.

    Executions name the `leaders`. Otherwise, each start of an execution would read the track record
    of every leader.
    """

    node: Node
    deployment: Deployment
    client: SuiClient
    leaders: tuple[Address, ...]
    workers: tuple[Address, ...]

    async def publish(self, document: Document, name: str) -> PublishedWorkflow:
        """Publish a workflow. `name` is the workflow's name without the domain."""
        workflows, fqn = Workflows(self.client, self.deployment), f"xyz.example.bench.{name}@1"
        await workflows.publish(document, fqn)
        return await workflows.get(fqn)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator["Ends"]:
        """Watch the ends of executions until the block ends."""
        ends = Ends()
        watch = asyncio.create_task(self._watch(ends))
        try:
            await asyncio.wait(
                {asyncio.create_task(ends.watching.wait()), watch},
                return_when=asyncio.FIRST_COMPLETED,
            )
            yield ends
        finally:
            watch.cancel()

    async def _watch(self, ends: "Ends") -> None:
        kinds = event_filter(self.deployment, ExecutionEnded)
        async with (
            SuiClient(self.node.network) as observer,
            aclosing(follow_events(observer, kinds)) as items,
        ):
            async for item in items:
                ends.watching.set()
                if isinstance(item, EventRecord):
                    ended = parse_event(self.deployment, item.event)
                    assert isinstance(ended, ExecutionEnded)
                    ends.see(ended)


@dataclass(slots=True)
class Ends:
    """The times at which the observer saw that executions ended."""

    seen: dict[Address, float] = field(default_factory=dict)
    watching: asyncio.Event = field(default_factory=asyncio.Event)
    _another: asyncio.Event = field(default_factory=asyncio.Event)

    def see(self, ended: ExecutionEnded) -> None:
        """Record that an execution has ended. Raises `ValueError` if the execution failed."""
        if ended.status != "completed":
            raise ValueError(f"the execution {ended.execution} ended as {ended.status}")
        self.seen[ended.execution] = perf_counter()
        self._another.set()

    async def last(self, executions: Sequence[Address]) -> float:
        """Wait until all executions have ended, and return the last time, by `perf_counter`."""
        while not self.seen.keys() >= set(executions):
            self._another.clear()
            await self._another.wait()
        return max(self.seen[execution] for execution in executions)


@asynccontextmanager
async def flow_stage(folder: Path, protocol: int = PROTOCOL) -> AsyncIterator[WorkflowSetup]:
    """Run the setup under the rules of a protocol version until the block ends."""
    await asyncio.to_thread(folder.mkdir)
    async with AsyncExitStack() as stack:
        own = stack.enter_context(node(folder, "--protocol-version", str(protocol)))
        await asyncio.to_thread(own.start, folder / "state")
        stage = Stage(folder, own.network.url, own.network)
        deployment = await stage.publish()
        serve = [*SERVE_FLOWS, "127.0.0.1:0"]
        tools = stack.enter_context(started(serve, folder / "tools.log", stage.home))
        await stage.register_tools(tools, tool=ECHO)
        worker = await stage.new_wallet("lee", 100 * chain.SUI)
        await stage.register_leader("lee")
        leader = stack.enter_context(started(stage.lead("lee"), folder / "leader.log", stage.home))
        await asyncio.to_thread(leader.logged, '"works"')
        key = await chain.funded_key(own.network, 1_000 * chain.SUI)
        client = await stack.enter_async_context(SuiClient(own.network, key))
        page = await LeaderRegistry(client, deployment).list()
        leaders = tuple(leader.id for leader in page.items)
        yield WorkflowSetup(own, deployment, client, leaders, (worker,))


def text_of(size: int, vertex: str = "v0") -> Mapping[str, str]:
    """Return inputs with a text of `size` bytes."""
    return {f"{vertex}.text": "x" * size}
