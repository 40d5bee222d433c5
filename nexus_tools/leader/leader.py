"""The Leader: its parts, put together, started and stopped."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from nexus_tools.contracts import Deployment
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.http.guarded_client import Resolve
from nexus_tools.leader.assembly import Basis, Parts, assemble
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.closing.closing_batch import floor_mist
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.closing.step_costs import cost_mist
from nexus_tools.leader.closing.worker_balances import Money
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.remote_values import Fetch
from nexus_tools.leader.dispatch.request_signing import SignedTraffic
from nexus_tools.leader.health.health_server import health_app, serve_health
from nexus_tools.leader.health.heartbeat import Heartbeat
from nexus_tools.leader.intake.readiness import Readiness
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import MAX_ITERATIONS, RequestIterations
from nexus_tools.sui.client import WENT_BACK, Cursor, SuiClient
from nexus_tools.sui.keystore import Signer
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

_PRUNE_SECONDS = 3_600.0
_LAST_CLOSED = 50  # in the order in which we heard of them; a node gives so many at once

T = TypeVar("T")


class Leader:
    """Carries invocations to tools and outcomes back, in the name of one leader, whose `id` it has.

    `client` reads the chain and sends; `signers`, one at least, are the keys of its workers that
    are here: they pay the gas and get the fees. What signs tool calls is another key, which the
    configuration names and `SignedTraffic.load` may refuse. `resolve` looks up the hosts of tools,
    by default as the system does. `storages` fetch what is not on chain, by their names; they
    go before those of the configuration.
    """

    def __init__(
        self,
        config: LeaderConfig,
        client: SuiClient,
        signers: Sequence[Signer],
        deployment: Deployment,
        leader: Address,
        *,
        resolve: Resolve | None = None,
        storages: Mapping[str, Fetch] | None = None,
    ) -> None:
        self.id = leader
        self._config = config
        self._chain = Chain(client, deployment, leader)
        self._workers = Workers(self._chain, signers, self._enough_mist)
        self._traffic = SignedTraffic.load(config, leader)
        self._clock = ChainClock(
            client.now_ms, config.clock_interval_ms, self._chain.note_went_back
        )
        self._resolve = resolve
        self._storages = storages or {}
        self._stopping = asyncio.Event()
        self._parts: Parts | None = None
        self.metrics = LeaderMetrics()
        self._heartbeat = Heartbeat(config, self._chain, self.metrics)
        self._readiness = Readiness()
        self.ready = asyncio.Event()
        self.health_port: int | None = None

    def stop(self) -> None:
        """Have `run` finish what is running, for `stop_timeout_ms` at most, and return."""
        self._stopping.set()

    def problems(self) -> dict[str, str]:
        """What keeps the Leader from its work now, by part; empty if nothing does."""
        found = {"node": self._heartbeat.trouble, "clock": self._clock.trouble}
        if self._parts is None:
            found["leader"] = "it has not started"
        else:
            found["watcher"] = self._parts.watcher.trouble
            found["workers"] = self._workers.trouble
            found["closer"] = self._parts.closer.trouble
            found["leader"] = "it is stopping" if self._stopping.is_set() else ""
        return {part: problem for part, problem in found.items() if problem}

    async def run(self) -> None:
        """Work until `stop` is called.

        Raises the `NexusError` that keeps it from starting (`unknown_leader`, `not_a_worker`,
        `wrong_chain`, `journal_locked`, …), or `journal_failed` later. Trouble with tools or the
        node does not end it: a node that is away is waited for, from the start on.
        """
        try:
            async with AsyncExitStack() as stack:
                if self._config.health_port is not None:
                    app = health_app(self.problems, self.metrics)
                    host = str(self._config.health_host)
                    serving = serve_health(app, self._config.health_port, host)
                    self.health_port = await stack.enter_async_context(serving)
                await self._until_stopped(self._meet_node())
                if not self._stopping.is_set():
                    await self._work(await assemble(self._basis(), stack))
        except BaseExceptionGroup as group:
            raise _cause(group) from group
        finally:
            self.ready.clear()

    # --- Starting

    async def _until_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What the work gives; None if the Leader is to stop before, and then it is cancelled."""
        working = asyncio.create_task(work)
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            working.cancel()
            stopping.cancel()
            await asyncio.wait((working, stopping))

    async def _meet_node(self) -> None:
        """Return once the node is there and all is well."""
        while True:
            try:
                await self._chain.check()
                await self._workers.refresh()
                self._workers.check()
                self._traffic.tell_keys(self._workers.leader.leader.keys.keys)
                await self._clock.refresh()
                self._heartbeat.observe(await self._chain.height())
            except UnreachableError as error:
                self._heartbeat.note(error)
                self._readiness.tell(self.problems(), self._heartbeat.code)
                await asyncio.sleep(self._heartbeat.pause_s)
            else:
                return

    def _basis(self) -> Basis:
        return Basis(
            self._config,
            self._chain,
            self._workers,
            self._clock,
            self.metrics,
            self._traffic,
            self._resolve,
            self._storages,
            ExecutionAccounts(
                self._chain.deployment,
                self.id,
                self._config.max_unpaid_gas_units,
                lambda: self._workers.epoch.gas_price,
            ),
        )

    # --- Working

    async def _work(self, parts: Parts) -> None:
        """Start every part in its order, wait for `stop`, and end them in the reverse one."""
        memory = await parts.journal.recall()
        if memory.cursor:
            self._chain.observe(Cursor.parse(memory.cursor).checkpoint)
        await self._until_stopped(self._check_closings(parts.journal))
        self._parts = parts
        money = Money(
            self._workers,
            self._chain.client.network,
            metrics=self.metrics,
            floor_mist=self._floor_mist,
            interval_ms=self._config.money_interval_ms,
        )
        background = [
            parts.group.create_task(self._clock.run()),
            parts.group.create_task(parts.closer.run()),
            parts.group.create_task(self._prune(parts.journal)),
            parts.group.create_task(money.run()),
            parts.group.create_task(parts.schedules.run()),
        ]
        await parts.workload.resume(memory.entries)
        parts.executions.resume(memory.executions)
        if memory.cursor is None:
            background.append(parts.group.create_task(parts.executions.search()))
        watching = parts.group.create_task(self._watch(parts, memory.cursor))
        background.append(parts.group.create_task(self._listen()))
        background.append(parts.group.create_task(self._look()))
        _log.info("started", leader=str(self._chain.leader), resumed=len(memory.entries))
        self.ready.set()
        try:
            await self._stopping.wait()
        finally:
            watching.cancel()
        await parts.workload.drain(self._clock.now_ms(), self._config.stop_timeout_ms / 1000)
        parts.executions.stop()
        for task in background:
            task.cancel()
        _log.info("stopped", leader=str(self._chain.leader))

    async def _check_closings(self, journal: Journal) -> None:
        """Notice a node that was set back while the Leader was off, behind the last event it read.

        What was closed after that stands in no event that the cursor could miss. A node that is
        merely behind is not meant: what was closed after its own time is not asked for.
        """
        while True:
            try:
                now_ms = await self._chain.client.now_ms()
                last = await journal.closed_last(now_ms, _LAST_CLOSED)
                if await self._chain.still_open(last):
                    error = "what was closed is open again: the node was set back"
                    _log.warning("watching_interrupted", code=WENT_BACK, error=error)
                    self._chain.note_went_back()
            except UnreachableError:
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
            else:
                return

    async def _watch(self, parts: Parts, cursor: str | None) -> None:
        """Follow events without end; from an earlier place, whenever the node went back."""
        while True:
            watching = parts.group.create_task(parts.watcher.run(cursor))
            try:
                await self._chain.went_back.wait()
            finally:
                watching.cancel()
            await asyncio.wait({watching})
            parts.watcher.trouble = "the node went back: events are read again"
            await self._reconcile(parts)
            cursor = None

    async def _reconcile(self, parts: Parts) -> None:
        """Take up again what is open on a chain that went back, whatever the journal says.

        What was closed after the place to which it went back is open now, and what was written
        down of a page whose reading was interrupted is in nobody's hands. Events that are read
        again change nothing, since the journal knows their invocations.
        """
        while self._chain.went_back.is_set():
            self._chain.went_back.clear()
            await parts.closer.rest()
            try:
                closed = await parts.journal.closed_early(self._clock.now_ms())
                await parts.journal.reopen(await self._chain.still_open(closed))
            except UnreachableError:
                self._chain.went_back.set()
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
        memory = await parts.journal.recall()
        await parts.workload.resume(memory.entries)
        parts.executions.resume(memory.executions)

    async def _listen(self) -> None:
        """Ask the node whether it is there, again and again, and tell what came of it."""
        while True:
            await asyncio.sleep(self._heartbeat.pause_s)
            await self._heartbeat.beat()
            self._readiness.tell(self.problems(), self._heartbeat.code)

    async def _look(self) -> None:
        """Compare the clock with the chain's, and see whether workers can pay again.

        Beside the heartbeat, which finds a connection that is dead: a read may hang on it.
        """
        while True:
            await asyncio.sleep(self._heartbeat.pause_s)
            await self._clock.look()
            await self._workers.look()

    def _floor_mist(self, price: int) -> int:
        """What a full transaction may need."""
        return floor_mist(self._config.batch_size, price)

    def _enough_mist(self, price: int) -> int:
        """What as many full transactions may need as are sent side by side, and one of steps."""
        steps = cost_mist([RequestIterations("", (), MAX_ITERATIONS)], price)
        return self._config.max_transactions * self._floor_mist(price) + steps

    async def _prune(self, journal: Journal) -> None:
        while True:
            await journal.prune(self._clock.now_ms() - self._config.retention_ms)
            await asyncio.sleep(_PRUNE_SECONDS)


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that ended the group, as words for a user where there are some."""
    inner: BaseException = group.subgroup(NexusError) or group
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return inner
