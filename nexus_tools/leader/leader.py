"""The Leader: its parts, put together, started and stopped."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

import structlog

from nexus_tools.client import Signer, SuiClient
from nexus_tools.errors import NexusError
from nexus_tools.leader.account import Account
from nexus_tools.leader.address_guard import AddressGuard
from nexus_tools.leader.carrier import Carrier
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.event_page import EventPage
from nexus_tools.leader.guarded_transport import Resolve, SystemResolver, guarded_client
from nexus_tools.leader.health import health_app, serve_health
from nexus_tools.leader.invoker import Invoker
from nexus_tools.leader.journal import Journal
from nexus_tools.leader.meta_check import MetaCheck
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.preparation import Preparation
from nexus_tools.leader.settings import LeaderSettings
from nexus_tools.leader.settler import Settler
from nexus_tools.leader.watcher import Watcher
from nexus_tools.leader.workload import Workload
from nexus_tools.registry import Deployment, outcome_bytes
from nexus_tools.sui.address import Address

_log = structlog.get_logger("nexus_tools.leader")

_PRUNE_SECONDS = 3_600.0


class Leader:
    """Carries invocations to tools and outcomes back, under one leader's cap.

    `client` reads the chain and sends; `signer` owns `cap` and pays the gas, and should sign for
    nothing else meanwhile. `resolve` looks up the hosts of tools, by default as the system does.
    """

    def __init__(
        self,
        settings: LeaderSettings,
        client: SuiClient,
        signer: Signer,
        deployment: Deployment,
        cap: Address,
        *,
        resolve: Resolve | None = None,
    ) -> None:
        self._settings = settings
        self._chain = Chain(client, deployment, cap)
        self._account = Account(client, signer, cap)
        self._clock = ChainClock(client.now_ms, settings.clock_interval_ms)
        self._resolve = resolve
        self._stopping = asyncio.Event()
        self._parts: _Parts | None = None
        self.metrics = LeaderMetrics()
        self.ready = asyncio.Event()
        self.health_port: int | None = None

    def stop(self) -> None:
        """Have `run` finish what is running, for `stop_timeout_ms` at most, and return."""
        self._stopping.set()

    def problems(self) -> dict[str, str]:
        """What keeps the Leader from its work now, by part; empty if nothing does."""
        if self._parts is None:
            return {"leader": "it has not started"}
        found = {
            "watcher": self._parts.watcher.trouble,
            "settler": self._parts.settler.trouble,
            "leader": "it is stopping" if self._stopping.is_set() else "",
        }
        return {part: problem for part, problem in found.items() if problem}

    async def run(self) -> None:
        """Work until `stop` is called.

        Raises the `NexusError` that keeps it from starting (`cap_not_yours`, `wrong_chain`,
        `journal_locked`, …), or `journal_failed` later. Trouble with tools or the node does not
        end it.
        """
        try:
            async with AsyncExitStack() as stack:
                if self._settings.health_port is not None:
                    app = health_app(self.problems, self.metrics)
                    serving = serve_health(app, self._settings.health_port)
                    self.health_port = await stack.enter_async_context(serving)
                await self._work(await self._assemble(stack))
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        finally:
            self.ready.clear()

    # --- Starting

    async def _assemble(self, stack: AsyncExitStack) -> "_Parts":
        settings, metrics = self._settings, self.metrics
        await self._chain.check()
        registry = await self._chain.leader_registry()
        await self._account.refresh()
        await self._clock.refresh()
        journal = await Journal.open(settings.journal, self._identity())
        stack.push_async_callback(journal.close)
        settler = Settler(
            settings,
            self._chain,
            leaders=registry,
            account=self._account,
            journal=journal,
            clock=self._clock,
            metrics=metrics,
        )
        carrier = await self._carrier(stack, journal, settler)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        workload = Workload(group, carrier, settler.queue, metrics, settings.max_pending)

        async def hand_on(page: EventPage) -> None:
            workload.end(page.ended)
            await workload.take(page.assigned)

        watcher = Watcher(
            settings,
            self._chain,
            journal=journal,
            clock=self._clock,
            metrics=metrics,
            hand_on=hand_on,
        )
        return _Parts(group, journal, settler, workload, watcher)

    async def _carrier(self, stack: AsyncExitStack, journal: Journal, settler: Settler) -> Carrier:
        settings = self._settings
        guard = AddressGuard(settings.allowed_networks, settings.allowed_ports, settings.allow_http)
        resolve = self._resolve
        if resolve is None:
            resolve = system = SystemResolver()
            stack.callback(system.close)
        connections = 2 * settings.max_concurrent
        client = guarded_client(guard, resolve, max_connections=connections)
        await stack.enter_async_context(client)
        lifetime = settings.meta_lifetime_ms / 1000
        now = asyncio.get_running_loop().time
        meta = MetaCheck(client, lifetime, now) if settings.check_meta else None
        return Carrier(
            settings,
            self._chain,
            journal=journal,
            clock=self._clock,
            preparation=Preparation(guard, settings.max_request_bytes, meta),
            invoker=Invoker(settings, client, outcome_bytes, self.metrics),
            queue=settler.queue,
            metrics=self.metrics,
        )

    def _identity(self) -> str:
        deployment = self._chain.deployment
        parts = (deployment.chain_id, deployment.original_id, self._chain.leader)
        return " ".join(map(str, parts))

    # --- Working

    async def _work(self, parts: "_Parts") -> None:
        """Start every part in its order, wait for `stop`, and end them in the reverse one."""
        memory = await parts.journal.recall()
        await parts.settler.recover(memory.transactions)
        memory = await parts.journal.recall()
        self._parts = parts
        background = [
            parts.group.create_task(self._clock.run()),
            parts.group.create_task(parts.settler.run()),
            parts.group.create_task(self._prune(parts.journal)),
        ]
        await parts.workload.resume(memory.entries)
        watching = parts.group.create_task(parts.watcher.run(memory.cursor))
        _log.info("started", leader=str(self._chain.leader), resumed=len(memory.entries))
        self.ready.set()
        try:
            await self._stopping.wait()
        finally:
            watching.cancel()
        seconds = self._settings.stop_timeout_ms / 1000
        await parts.workload.drain(self._clock.now_ms(), seconds)
        for task in background:
            task.cancel()
        _log.info("stopped", leader=str(self._chain.leader))

    async def _prune(self, journal: Journal) -> None:
        while True:
            await journal.prune(self._clock.now_ms() - self._settings.retention_ms)
            await asyncio.sleep(_PRUNE_SECONDS)


@dataclass(frozen=True, slots=True)
class _Parts:
    group: asyncio.TaskGroup
    journal: Journal
    settler: Settler
    workload: Workload
    watcher: Watcher


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that ended the group, as words for a user where there are some."""
    known = group.subgroup(NexusError)
    inner: BaseException = known or group
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return inner
