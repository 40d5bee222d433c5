"""The time until a Leader with default settings reports a lost node, and until it recovers.

Each fault occurs while a Leader is ready and a requester requests an invocation. The benchmark
measures the time from the fault until `/readyz` fails. It also measures the time from the end of
the fault until `/readyz` succeeds and the invocation is settled. A dead connection or a reset has
no end, so the second time is then also measured from the fault.
"""

import asyncio
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import httpx

from benchmarks import chain
from benchmarks.figure import Figure, at_most
from benchmarks.node import Node, free_port, node
from benchmarks.processes import started
from benchmarks.proxy import Proxy
from benchmarks.requests import request_many
from benchmarks.stage import SERVE, TOOL, Stage
from nexus_tools.contracts import Deployment
from nexus_tools.registry import Invocations, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address

TARGET_S = 10
_LIMIT_S = 60
_LOOK_AGAIN_S = 0.02
# The query can occur at any moment of the heartbeat's period.
_LONG_ENOUGH_TO_NOTICE_S = 2.5


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the seconds until the report and until recovery, for each fault."""
    for fault in asyncio.run(_faults(folder)):
        target = at_most(TARGET_S)
        yield Figure(f"faults {fault.name}: not ready", fault.told_s, "s", target=target)
        yield Figure(f"faults {fault.name}: works again", fault.back_s, "s", target=target)


@dataclass(frozen=True, slots=True)
class _Times:
    """The times of one fault. The report time is 0 if the Leader did not notice the fault."""

    name: str
    told_s: float
    back_s: float


async def _faults(folder: Path) -> list[_Times]:
    async with AsyncExitStack() as stack:
        own = stack.enter_context(node(folder))
        await asyncio.to_thread(own.start, folder / "state")
        proxy = await stack.enter_async_context(Proxy(own.port).running())
        stage = Stage(folder, proxy.url, own.network)
        deployment = await stage.publish()
        await stage.new_wallet("lee", 100 * chain.SUI)
        await stage.register_leader("lee")
        serve = [*SERVE, "127.0.0.1:0"]
        tools = stack.enter_context(started(serve, folder / "tools.log", stage.home))
        await stage.register_tools(tools)
        port = free_port()
        lead = stage.lead("lee", "--health-port", str(port))
        leader = stack.enter_context(started(lead, folder / "leader.log", stage.home))
        await asyncio.to_thread(leader.logged, '"works"')
        key = await chain.funded_key(own.network, 100 * chain.SUI)
        client = await stack.enter_async_context(SuiClient(own.network, key))
        http = await stack.enter_async_context(httpx.AsyncClient())
        scene = _Scene(folder, own, proxy, client, deployment, http, port)
        return [await scene.play(*fault) for fault in scene.faults()]


Change = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Scene:
    """A running Leader, and the possible faults of its node."""

    folder: Path
    node: Node
    proxy: Proxy
    client: SuiClient
    deployment: Deployment
    http: httpx.AsyncClient
    health_port: int

    def faults(self) -> list[tuple[str, Change, Change]]:
        """Return each fault by its name, with the functions that start and end it."""
        return [
            ("half-open", self._half_open, _nothing),
            ("black hole", self._swallow, self.proxy.mend),
            ("dropped", self.proxy.drop, self.proxy.mend),
            ("hung", self._hang, self._go_on),
            ("replaced", self._replace, self._restore),
            ("set back", self._set_back, _nothing),
        ]

    async def play(self, name: str, begin: Change, end: Change) -> _Times:
        """Start and end a fault, and request an invocation as soon as the node responds again."""
        await self._until_ready(True)
        struck = monotonic()
        await begin()
        await self._until_ready(False)
        told_s = monotonic() - struck
        mended = monotonic()
        await end()
        invocation = await self._request()
        await self._until_ready(True)
        async with asyncio.timeout(_LIMIT_S):
            closed = await Invocations(self.client, self.deployment).wait_until_closed(invocation)
        assert closed.is_closed
        return _Times(name, told_s, monotonic() - mended)

    async def _request(self) -> Address:
        tool = await ToolRegistry(self.client, self.deployment).get(TOOL)
        inputs = [{"dividend": 42, "divisor": 5}]
        (invocation,) = await request_many(self.client, self.deployment, tool, inputs)
        return invocation

    async def _until_ready(self, wanted: bool) -> None:
        async with asyncio.timeout(_LIMIT_S):
            while await self._is_ready() is not wanted:  # noqa: ASYNC110 - asks a process
                await asyncio.sleep(_LOOK_AGAIN_S)

    async def _is_ready(self) -> bool:
        response = await self.http.get(f"http://127.0.0.1:{self.health_port}/readyz")
        return response.is_success

    # --- Faults

    async def _half_open(self) -> None:
        self.proxy.half_open()

    async def _swallow(self) -> None:
        self.proxy.swallow()

    async def _hang(self) -> None:
        self.node.send(signal.SIGSTOP)

    async def _go_on(self) -> None:
        self.node.send(signal.SIGCONT)

    async def _replace(self) -> None:
        await asyncio.to_thread(self.node.kill)
        await asyncio.to_thread(self.node.start, self.folder / "another")

    async def _restore(self) -> None:
        await asyncio.to_thread(self.node.kill)
        await asyncio.to_thread(self.node.start, self.folder / "state")

    async def _set_back(self) -> None:
        """Kill the node and restart it with its state before the last settlements."""
        await asyncio.to_thread(self.node.end)
        shutil.copytree(self.folder / "state", self.folder / "earlier")
        await asyncio.to_thread(self.node.start, self.folder / "state")
        await self._until_ready(True)
        for _ in range(5):
            invocation = await self._request()
            await Invocations(self.client, self.deployment).wait_until_closed(invocation)
        await asyncio.sleep(_LONG_ENOUGH_TO_NOTICE_S)
        await asyncio.to_thread(self.node.kill)
        await asyncio.to_thread(self.node.start, self.folder / "earlier")


async def _nothing() -> None:
    """Do nothing, because the fault ends by itself."""
