"""The entry point of the daemon: assembles a Leader, starts it, and stops it."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from nexus_tools.contracts import Deployment
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.http.guarded_client import Resolve
from nexus_tools.leader.assembly import (
    Components,
    Dependencies,
    assemble,
    journal_identity,
    open_journal,
)
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.closing.closing_batch import full_batch_mist
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.closing.step_costs import cost_mist
from nexus_tools.leader.closing.worker_balances import WorkerBalances
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.remote_values import Fetch
from nexus_tools.leader.dispatch.request_signing import RequestSigning
from nexus_tools.leader.health.health_server import health_app, serve_health
from nexus_tools.leader.health.heartbeat import Heartbeat
from nexus_tools.leader.intake.readiness import Readiness
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.lease import LeaseLostError, Member
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import MAX_ITERATIONS, RequestIterations
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import Signer
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.types.address import Address

_log = get_logger("nexus_tools.leader")

T = TypeVar("T")


class Leader:
    """A daemon that works for one registered leader with the ID `id`.

    `client` reads the chain and sends transactions. `signers` are the local keys of one or more
    workers of the leader. The workers pay gas and earn fees. The configuration names another key,
    which signs tool calls. `RequestSigning.load` raises an error if that key is invalid. `resolve`
    looks up the hosts of tools. Its default is the system's resolver. `storages` maps names to
    functions that fetch remote values, and overrides configured storages of the same name.

    Several processes may work for one leader if they share a journal in PostgreSQL and have
    different signers.
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
        self._workers = Workers(self._chain, signers, self._target_balance_mist)
        self._request_signing = RequestSigning.load(config, leader)
        self._clock = ChainClock(client.now_ms, config.clock_interval_ms, self._chain.note_rollback)
        self._resolve = resolve
        self._storages = storages or {}
        self._stopping = asyncio.Event()
        self._parts: Components | None = None
        self._journal_trouble = ""
        self.metrics = LeaderMetrics()
        self._heartbeat = Heartbeat(config, self._chain, self.metrics)
        self._readiness = Readiness()
        self.ready = asyncio.Event()
        self.health_port: int | None = None

    def stop(self) -> None:
        """Make `run` return, after it has finished work in progress for up to `stop_timeout_ms`."""
        self._stopping.set()

    def problems(self) -> dict[str, str]:
        """Return the current problems by component; empty if the Leader is ready."""
        all_problems = {"node": self._heartbeat.trouble, "clock": self._clock.trouble}
        if self._parts is None:
            all_problems["journal"] = self._journal_trouble
            all_problems["leader"] = "the Leader has not started yet"
        else:
            all_problems["journal"] = self._parts.journal.trouble
            all_problems |= self._parts.intake.problems()
            all_problems["workers"] = self._workers.trouble
            all_problems["closer"] = self._parts.closer.trouble
            all_problems["leader"] = "stopping" if self._stopping.is_set() else ""
        return {part: problem for part, problem in all_problems.items() if problem}

    async def run(self) -> None:
        """Run the Leader until `stop` is called.

        Problems with tools or the node do not stop the Leader. If the node or the PostgreSQL server
        of the journal is unreachable, even at the start, the Leader waits until it responds.

        Raises:
            NexusError: The Leader cannot start (`leader_unknown`, `not_a_worker`, `wrong_chain`,
                `journal_locked`, …), or the journal failed later (`journal_failed`).
        """
        try:
            async with AsyncExitStack() as stack:
                if self._config.health_port is not None:
                    app = health_app(self.problems, self.metrics)
                    host = str(self._config.health_host)
                    serving = serve_health(app, self._config.health_port, host)
                    self.health_port = await stack.enter_async_context(serving)
                await self._until_stopped(self._wait_for_node())
                while not self._stopping.is_set():
                    await self._work_until_stopped()
        except BaseExceptionGroup as group:
            raise _root_cause(group) from group

    # --- Starting

    async def _until_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of `work`. If the Leader stops first, cancel `work` and return None."""
        working = asyncio.create_task(work)
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            working.cancel()
            stopping.cancel()
            await asyncio.wait((working, stopping))

    async def _wait_for_node(self) -> None:
        """Wait until the node responds and all checks succeed."""
        while True:
            try:
                await self._chain.check()
                await self._workers.refresh()
                self._workers.require_worker_key()
                self._request_signing.log_keys(self._workers.leader.leader.keys.keys)
                await self._clock.refresh()
                self._heartbeat.observe(await self._chain.height())
            except UnreachableError as error:
                self._heartbeat.record_failure(error)
                self._readiness.log_change(self.problems(), self._heartbeat.code)
                await asyncio.sleep(self._heartbeat.pause_s)
            else:
                return

    async def _open_journal(self) -> Journal | None:
        """Open the journal when its PostgreSQL server responds. Return None if the Leader stops."""
        while not self._stopping.is_set():
            try:
                return await open_journal(
                    self._config.journal,
                    journal_identity(self._chain),
                    Member(self._workers.addresses),
                )
            except UnreachableError as error:
                self._journal_trouble = str(error)
                self._readiness.log_change(self.problems(), error.code)
                delay_s = self._config.error_retry_delay_ms / 1000
                await self._until_stopped(asyncio.sleep(delay_s))
        return None

    def _dependencies(self) -> Dependencies:
        return Dependencies(
            self._config,
            self._chain,
            self._workers,
            self._clock,
            self.metrics,
            self._request_signing,
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

    async def _work_until_stopped(self) -> None:
        """Open the journal and work until `stop` is called, or until the lease ends."""
        try:
            async with AsyncExitStack() as stack:
                journal = await self._open_journal()
                if journal is not None:
                    await self._work(await assemble(self._dependencies(), journal, stack))
        except* LeaseLostError as lost:
            self._journal_trouble = str(_root_cause(lost))
            _log.warning("lease_lost", reason=self._journal_trouble)
        finally:
            self.ready.clear()
            self._parts = None

    async def _work(self, parts: Components) -> None:
        """Start the components in order, wait for `stop`, finish open work, and end the tasks."""
        self._parts = parts
        money = WorkerBalances(
            self._workers,
            self._chain.client.network,
            metrics=self.metrics,
            floor_mist=self._full_batch_mist,
            interval_ms=self._config.balance_interval_ms,
        )
        background = [
            parts.group.create_task(self._clock.run()),
            parts.group.create_task(parts.closer.run()),
            parts.group.create_task(parts.intake.run()),
        ]
        await self._until_stopped(parts.intake.started.wait())
        background.append(parts.group.create_task(money.run()))
        background.append(parts.group.create_task(self._run_heartbeat()))
        background.append(parts.group.create_task(self._check_clock_and_workers()))
        _log.info("started", leader=str(self._chain.leader), resumed=parts.intake.resumed)
        self.ready.set()
        await self._stopping.wait()
        await parts.intake.stop()
        await parts.workload.drain(self._clock.now_ms(), self._config.stop_timeout_ms / 1000)
        for task in background:
            task.cancel()
        _log.info("stopped", leader=str(self._chain.leader))

    async def _run_heartbeat(self) -> None:
        """Check the node periodically, and log each change of readiness."""
        while True:
            await asyncio.sleep(self._heartbeat.pause_s)
            await self._heartbeat.beat()
            self._readiness.log_change(self.problems(), self._heartbeat.code)

    async def _check_clock_and_workers(self) -> None:
        """Synchronize the clock with the chain, and check whether the workers can pay again.

        This task is separate from the heartbeat, because reads may block on a dead connection. Only
        the heartbeat detects and replaces a dead connection.
        """
        while True:
            await asyncio.sleep(self._heartbeat.pause_s)
            await self._clock.look()
            await self._workers.try_refresh()

    def _full_batch_mist(self, price: int) -> int:
        """Return the maximum cost of a full closing transaction at a gas price, in MIST."""
        return full_batch_mist(self._config.max_batch_size, price)

    def _target_balance_mist(self, price: int) -> int:
        """Return the balance for all concurrent closings and one step transaction, in MIST."""
        steps = cost_mist([RequestIterations("", (), MAX_ITERATIONS)], price)
        return self._config.max_transactions * self._full_batch_mist(price) + steps


def _root_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that ended the task group. Prefer a `NexusError`, which users understand."""
    inner: BaseException = group.subgroup(NexusError) or group
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return inner
