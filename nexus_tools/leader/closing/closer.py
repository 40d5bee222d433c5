"""The closer, which closes invocations in batches, with several transactions in flight.

Each invocation is in at most one transaction at a time. The chain skips closed and expired
invocations, and the closer reads their state afterwards. If one command fails, the whole
transaction fails. The closer then drops closed invocations, retries the invocation of the failed
command later, and sends the others again. After a failure, transactions are simulated first.

A transaction that advances executions is also simulated, and not sent if it costs more than it
earns. Owners with sufficient earlier fees need no simulation until a transaction loses money.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import perf_counter

from nexus_tools.contracts.move_bindings import invocation as moves
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError, WrongStateError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closing_batch import Closing, ClosingBatch, reduce_steps
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.closing.closing_result import failure_reason, fees_mist
from nexus_tools.leader.closing.closing_return import leave_to_others
from nexus_tools.leader.closing.closing_slots import ClosingSlots
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts, margin_mist
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.worker_signer import SigningFailedError
from nexus_tools.leader.closing.workers import Worker, Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.response_classifier import failure
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.lease import RowLostError
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.client import simulate_transaction
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure
from nexus_tools.tool import Answer, FailureReason

_log = get_logger("nexus_tools.leader")

_MAX_RETRY_SECONDS = 5.0
_MAX_BUDGET_FACTOR = 16
# The time for which a transaction waits for more closings while another transaction is in flight.
# The reason for the wait is that a larger batch costs less per closing.
_BATCH_WAIT_S = 0.02
_UNPROFITABLE_DETAIL = "settling this answer costs the leader more gas than its fee covers"


class Closer:
    """A task that closes queued invocations, with at most `max_transactions` in flight."""

    def __init__(
        self,
        config: LeaderConfig,
        chain: Chain,
        *,
        workers: Workers,
        journal: Journal,
        clock: ChainClock,
        metrics: LeaderMetrics,
        accounts: ExecutionAccounts,
    ) -> None:
        self._config = config
        self._chain = chain
        self._workers = workers
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._accounts = accounts
        self._sender = TransactionSender(chain.client, config.error_retry_delay_ms)
        self._trouble = ""
        # These settings limit the losses after a failure.
        self._simulate_first = False
        self._budget_factor = 1
        self._batch_limit = config.max_batch_size
        self._slots = ClosingSlots(config.max_transactions)
        self._in_flight: set[asyncio.Task[None]] = set()
        self.queue = ClosingQueue(config)
        self.is_blocked = asyncio.Event()

    @property
    def trouble(self) -> str:
        """The reason why closing is blocked, or an empty string."""
        return self._trouble or self._sender.trouble

    async def run(self) -> None:
        """Close queued invocations forever."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._slots.acquire()
                closings = await self.queue.take(
                    self._batch_limit, lambda: _BATCH_WAIT_S if self._in_flight else 0.0
                )
                task = group.create_task(self._close(closings))
                self._in_flight.add(task)
                self._metrics.transactions.set(len(self._in_flight))
                task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        self._metrics.transactions.set(len(self._in_flight))
        self._slots.release()

    async def rest(self) -> None:
        """Wait until the batches that are currently in flight are finished."""
        if self._in_flight:
            await asyncio.wait(self._in_flight)

    # --- One batch

    async def _close(self, closings: list[Closing]) -> None:
        """Process all closings. No other task may process the same closings concurrently."""
        try:
            while closings:
                await self._close_once(closings)
        except SigningFailedError as error:
            await self._return_unsigned(closings, error)
        except NexusError as error:
            if error.code == "journal_failed":
                raise
            if await leave_to_others(self._journal, closings, error):
                return
            if not isinstance(error, UnreachableError):  # the heartbeat reports an unreachable node
                _log.warning("closing_postponed", code=error.code, error=error.message)
            await self._postpone(closings, error.message)
        except Exception as error:  # noqa: BLE001 - other batches continue
            _log.error("closing_error", error=error_summary(error))
            await self._postpone(closings, "closing failed unexpectedly, see the log")

    async def _return_unsigned(
        self, closings: Sequence[Closing], error: SigningFailedError
    ) -> None:
        """Queue the closings of a batch that was not signed, for another worker if possible."""
        self._metrics.trouble.labels("signer").inc()
        if not self._workers.has_working_signer:
            if not await leave_to_others(self._journal, closings, error):
                await self._postpone(closings, error.message)
            return
        loop, pause_s = asyncio.get_running_loop(), self._config.error_retry_delay_ms / 1000
        for closing in closings:
            loop.call_later(pause_s, self.queue.put, closing)

    async def _postpone(self, closings: Sequence[Closing], message: str) -> None:
        """Queue the closings again after an error of the Leader or of its node.

        The next batches are smaller, to isolate a closing that makes every transaction fail.
        """
        self._note_trouble(message)
        self._simulate_first = True
        self._batch_limit = max(1, self._batch_limit // 2)
        if len(closings) == 1:
            self._retry_later(closings[0])
            return
        await asyncio.sleep(self._config.error_retry_delay_ms / 1000)
        for closing in closings:
            self.queue.put(closing)

    def _note_trouble(self, message: str) -> None:
        """Set `trouble` and `is_blocked`, which the next successful transaction clears."""
        self._trouble = message
        self.is_blocked.set()
        self._metrics.trouble.labels("closer").inc()

    async def _close_once(self, closings: list[Closing]) -> None:
        """Send one transaction. Afterwards `closings` contains the closings to retry at once."""
        now_ms = self._clock.now_ms()
        if any(
            closing.failed_attempts or closing.assignment.is_shared_at(now_ms)
            for closing in closings
        ):
            await self._drop_closed(closings)  # another leader may have closed some of them
        if not closings:
            self._clear_trouble()
            return
        batch = self._affordable_batch(closings)
        try:
            async with self._workers.select(self._budget_mist(batch)) as worker:
                await self._send_batch(worker, batch, closings)
        except WrongStateError as error:
            if error.code != "not_enough_sui":
                raise
            if len(closings) > 1:
                self._requeue_half(closings)
            elif not reduce_steps(closings):
                raise

    def _affordable_batch(self, closings: list[Closing]) -> ClosingBatch:
        """Return a batch that a worker can pay, or one closing. Queue the other closings again."""
        while True:
            batch = ClosingBatch(
                self._chain.deployment,
                self._workers.leader.argument,
                closings,
                purse_mist=self._workers.richest_mist // self._budget_factor,
                price=self._workers.epoch.gas_price,
            )
            if len(closings) == 1 or self._budget_mist(batch) <= self._workers.richest_mist:
                return batch
            self._requeue_half(closings)

    def _budget_mist(self, batch: ClosingBatch) -> int:
        return batch.budget_mist(self._workers.epoch.gas_price) * self._budget_factor

    async def _send_batch(
        self, worker: Worker, batch: ClosingBatch, closings: list[Closing]
    ) -> None:
        """Send a batch, signed and paid by `worker`, and process its result."""
        kind, budget_mist = batch.build(), self._budget_mist(batch)
        started, simulated = perf_counter(), None
        guarantor = self._guarantor(batch, budget_mist)
        try:
            if self._simulate_first or (batch.is_uncertain and guarantor is None):
                connection = self._chain.client.connection
                draft = self._workers.draft(worker, kind, budget_mist)
                simulated = await simulate_transaction(connection, draft)
                status = simulated.effects.status
                if isinstance(status, ExecutionFailure):
                    return await self._after_failure(batch, status, closings)
                executions = [closing.execution for closing in closings]
                if not self._accounts.covers_batch(executions, worker, simulated):
                    return await self._reduce_cost(closings)
            single_execution = closings[0].execution if len(closings) == 1 else None
            reservation = (
                self._accounts.reserve(single_execution, worker, simulated)
                if guarantor is None
                else self._accounts.reserve_budget(guarantor, budget_mist)
            )
            with reservation:
                with self._slots.lent():
                    transaction = await self._workers.sign(worker, kind, budget_mist)
                async with self._slots.sending:
                    executed = await self._sender.send(transaction)
        except (UnreachableError, SigningFailedError):
            raise
        except NexusError as refusal:
            return await self._after_refusal(worker, refusal, closings)
        self._metrics.closing_seconds.observe(perf_counter() - started)
        fees = fees_mist(self._chain.deployment, executed)
        repaid_mist = worker.repaid_mist(executed, sum(fees.values()))
        self._metrics.gas_mist.inc(executed.cost.net - repaid_mist)
        worker.apply_effects(executed)
        status = executed.effects.status
        self._accounts.record(batch.debtors_of(status), worker, executed)
        if guarantor is not None and margin_mist(worker, executed) < 0:
            self._accounts.distrust(guarantor)
        if isinstance(status, ExecutionFailure):
            return await self._after_failure(batch, status, closings)
        return await self._after_success(fees, closings)

    def _guarantor(self, batch: ClosingBatch, budget_mist: int) -> Address | None:
        """Return the owner whose earlier fees cover the batch, or None if it must be simulated."""
        if self._simulate_first or not batch.advances_executions or batch.is_unusual:
            return None
        executions = [closing.execution for closing in batch.closings]
        return self._accounts.guarantor(executions, budget_mist)

    # --- Unprofitable batches

    async def _reduce_cost(self, closings: list[Closing]) -> None:
        """Make the next transaction cheaper by removing closings, steps, or an answer."""
        if len(closings) > 1:
            self._requeue_half(closings)
        elif not reduce_steps(closings):
            [closing] = closings
            invocation = closing.assignment.invocation
            _log.warning("unprofitable", invocation=str(invocation))
            if closing.fail_fee_mist and isinstance(closing.outcome, Answer):
                closing.fail_with(failure(FailureReason.REFUSED, _UNPROFITABLE_DETAIL))
                self._metrics.failed.labels(FailureReason.REFUSED.value).inc()
                with suppress(RowLostError):  # the first transaction on chain decides
                    await self._journal.record_outcome(invocation, closing.outcome)
            else:
                await self._note_closed(closings, {closing: ClosureKind.MISSED})

    # --- After success

    async def _after_success(self, fees: dict[Address, int], closings: list[Closing]) -> None:
        self._simulate_first, self._budget_factor = False, 1
        self._batch_limit = min(2 * self._batch_limit, self._config.max_batch_size)
        self._clear_trouble()
        self._metrics.closing_size.observe(len(closings))
        closed: dict[Closing, ClosureKind] = {}
        for closing in closings:
            closing.fee_mist = fees.get(closing.assignment.invocation)
            if closing.fee_mist is not None:
                closed[closing] = closing.closes_as
        await self._note_closed(closings, closed)
        if closings:
            await self._drop_closed(closings)
        # The chain skipped the remaining closings, but a node that lags may report them as open.
        while closings:
            self._retry_later(closings.pop())

    def _clear_trouble(self) -> None:
        self._trouble = ""
        self.is_blocked.clear()

    # --- After failure

    async def _after_refusal(
        self, worker: Worker, refusal: NexusError, closings: list[Closing]
    ) -> None:
        """Update the state after the node refused a transaction, which was not executed.

        The cause may be a deleted invocation, a new epoch, or a balance that another program spent.
        The next transaction then omits the invocation, or uses the new state.

        Raises:
            RefusedOnChainError: `closing_refused`, if the next transaction would not differ.
        """
        before, count = self._workers.epoch, len(closings)
        await self._workers.refresh()
        await self._drop_closed(closings)
        is_poorer = worker.balance_mist < worker.reserved_mist
        if len(closings) < count or self._workers.epoch != before or is_poorer:
            return
        if not reduce_steps(closings):
            message = f"the node rejected the transaction: {refusal.message}"
            raise RefusedOnChainError("closing_refused", message)

    async def _after_failure(
        self, batch: ClosingBatch, status: ExecutionFailure, closings: list[Closing]
    ) -> None:
        """Find the part of a batch that made the whole transaction fail."""
        _log.warning("closing_failed", error=str(status.error), command=status.command)
        self._simulate_first = True
        count = len(closings)
        await self._drop_closed(closings)
        failed_closing = batch.closing_of(status.command)
        execution = batch.execution_of(status.command)
        match failure_reason(status):
            case moves.ENotWorker | moves.ELeaderSuspended:
                # The error affects the whole batch, but another worker may be able to send it.
                await self._workers.refresh()
                if self._workers.trouble:
                    raise WrongStateError("closing_impossible", self._workers.trouble)
            case ErrorKind.INSUFFICIENT_FUNDS_FOR_WITHDRAW:
                await self._workers.refresh()
                raise WrongStateError(
                    "worker_balance_spent", "another program spends the worker's balance"
                )
            case ErrorKind.INSUFFICIENT_GAS if self._budget_factor < _MAX_BUDGET_FACTOR:
                self._budget_factor *= 2
            case _ if failed_closing in closings:
                closings.remove(failed_closing)
                self._on_refused(failed_closing)
            case _ if reduce_steps(closings, execution) or len(closings) < count:
                pass  # the steps after a closing must never block the closing
            case _ if len(closings) > 1:
                self._requeue_half(closings)  # smaller batches isolate the unknown cause
            case _:
                self._on_refused(closings.pop())

    def _on_refused(self, closing: Closing) -> None:
        self._note_trouble(f"the chain rejected the closing of {closing.assignment.invocation}")
        self._retry_later(closing)

    def _requeue_half(self, closings: list[Closing]) -> None:
        """Return the second half of the closings to the queue."""
        middle = len(closings) // 2
        for closing in closings[middle:]:
            self.queue.put(closing)
        del closings[middle:]

    def _retry_later(self, closing: Closing) -> None:
        """Try a closing again later, because the invocation may still be open."""
        closing.failed_attempts += 1
        pause = self._config.error_retry_delay_ms / 1000 * 2 ** min(closing.failed_attempts - 1, 10)
        pause = min(pause, _MAX_RETRY_SECONDS)
        asyncio.get_running_loop().call_later(pause, self.queue.put, closing)

    async def _drop_closed(self, closings: list[Closing]) -> None:
        """Read all invocations, and remove the closings of closed or expired invocations."""
        await self._clock.refresh()
        kinds = await self._chain.closed([closing.assignment for closing in closings])
        closed: dict[Closing, ClosureKind] = {}
        for closing in closings:
            kind = kinds.get(closing.assignment.invocation)
            if kind is None and closing.is_missed_at(self._clock.now_ms()):
                kind = ClosureKind.MISSED
            if kind is not None:
                closed[closing] = kind
        await self._note_closed(closings, closed)

    async def _note_closed(
        self, closings: list[Closing], closed: Mapping[Closing, ClosureKind]
    ) -> None:
        by_id = {closing.assignment.invocation: kind for closing, kind in closed.items()}
        if by_id:
            await self._journal.record_closed(by_id, self._clock.now_ms())
        for closing, kind in closed.items():
            closing.close(kind)
            closings.remove(closing)
