"""Closes invocations, several with one transaction, and several transactions side by side.

An invocation is in one transaction at a time. What was closed meanwhile, or is too late, is passed
over by the chain, and asked about afterwards. A transaction that fails does so as a whole: those
that are closed are done with, the one whose command failed waits a little, the others go on. After
a failed execution transactions are simulated first, so that it costs gas once. One that goes on
with executions is always simulated: it is not sent if it costs more than it pays.
"""

import asyncio
from collections.abc import Mapping, Sequence
from time import perf_counter

from nexus_tools.contracts import parse_event
from nexus_tools.contracts.move_bindings import invocation as moves
from nexus_tools.errors import NexusError, NotNowError, RefusedOnChainError, UnreachableError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.chain.closure import Closed
from nexus_tools.leader.closing.closing_batch import Closing, ClosingBatch
from nexus_tools.leader.closing.closing_queue import ClosingQueue
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts, margin_mist
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Worker, Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.response_classifier import failure
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.bindings.runtime import MoveError
from nexus_tools.sui.client import Executed, Simulated, simulate_transaction
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ErrorKind, ExecutionFailure, MoveAbort
from nexus_tools.tool import Answer, FailureReason

_log = get_logger("nexus_tools.leader")

_LONGEST_SETBACK_SECONDS = 5.0
_MOST_GENEROUS = 16
# Beside another transaction one is worth waiting for company: it is cheaper for each, and nobody
# notices as much. The first one waits for nobody.
_PATIENCE_S = 0.02


class Closer:
    """Takes closings from its queue while fewer than `max_transactions` are under way."""

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
        self._sender = TransactionSender(chain.client, config.trouble_pause_ms)
        self._trouble = ""
        # What the last failures taught: whether a closing is simulated before it is sent, by what
        # its budget is multiplied, and how many are put into one transaction.
        self._wary = False
        self._generosity = 1
        self._most = config.batch_size
        self._slots = asyncio.Semaphore(config.max_transactions)
        self._under_way: set[asyncio.Task[None]] = set()
        self.queue = ClosingQueue(config)
        self.troubled = asyncio.Event()

    @property
    def trouble(self) -> str:
        """What keeps this Leader from closing invocations; empty if nothing does."""
        return self._trouble or self._sender.trouble

    async def run(self) -> None:
        """Close what comes, without end."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._slots.acquire()
                closings = await self.queue.take(self._most, self._patience_s)
                task = group.create_task(self._close(closings))
                self._under_way.add(task)
                self._metrics.transactions.set(len(self._under_way))
                task.add_done_callback(self._done)

    def _patience_s(self) -> float:
        return _PATIENCE_S if self._under_way else 0.0

    def _done(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._metrics.transactions.set(len(self._under_way))
        self._slots.release()

    async def rest(self) -> None:
        """Return when the batches that are under way now are dealt with."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    # --- One batch

    async def _close(self, held: list[Closing]) -> None:
        """Deal with closings that are held here, in nobody else's hands, until none is left."""
        try:
            while held:
                await self._try(held)
        except NexusError as error:
            if error.code == "journal_failed":
                raise
            if not isinstance(error, UnreachableError):  # of which the heartbeat tells
                _log.warning("closing_postponed", code=error.code, error=error.message)
            await self._postpone(held, error.message)
        except Exception as error:  # noqa: BLE001 - the others go on, and the journal has it all
            _log.error("closing_broke", error=in_short(error))
            await self._postpone(held, "closing broke, the log says why")

    async def _postpone(self, held: Sequence[Closing], message: str) -> None:
        """Trouble of the Leader's own is no reason to give up anything.

        Fewer at a time find the one, if there is one, that no transaction can close.
        """
        self._note_trouble(message)
        self._wary = True
        self._most = max(1, self._most // 2)
        if len(held) == 1:
            self._set_back(held[0])
            return
        await asyncio.sleep(self._config.trouble_pause_ms / 1000)
        for closing in held:
            self.queue.put(closing)

    def _note_trouble(self, message: str) -> None:
        """Told by `trouble` and `troubled` until something is closed again."""
        self._trouble = message
        self.troubled.set()
        self._metrics.trouble.labels("closer").inc()

    async def _try(self, held: list[Closing]) -> None:
        """Close them with one transaction; what is held afterwards is to be tried again at once."""
        now_ms = self._clock.now_ms()
        if any(one.setbacks or one.assignment.is_shared_at(now_ms) for one in held):
            await self._drop_closed(held)  # another leader may have closed them
        if not held:
            self._forget_trouble()
            return
        batch = self._affordable(held)
        try:
            async with self._workers.paying(self._budget_mist(batch)) as worker:
                await self._pay(worker, batch, held)
        except NotNowError as error:
            if error.code != "not_enough_sui":
                raise
            if len(held) > 1:
                self._halve(held)
            elif not _reduced(held):
                raise

    def _affordable(self, held: list[Closing]) -> ClosingBatch:
        """As many of them as a worker can pay, one at least; the others wait for their turn."""
        while True:
            batch = ClosingBatch(
                self._chain.deployment,
                self._workers.leader.argument,
                held,
                purse_mist=self._workers.richest_mist // self._generosity,
                price=self._workers.epoch.gas_price,
            )
            if len(held) == 1 or self._budget_mist(batch) <= self._workers.richest_mist:
                return batch
            self._halve(held)

    def _budget_mist(self, batch: ClosingBatch) -> int:
        return batch.budget_mist(self._workers.epoch.gas_price) * self._generosity

    async def _pay(self, worker: Worker, batch: ClosingBatch, held: list[Closing]) -> None:
        """Send a batch as one of the workers."""
        kind, budget_mist = batch.build(), self._budget_mist(batch)
        started, simulated = perf_counter(), None
        try:
            if self._wary or batch.is_uncertain:
                connection = self._chain.client.connection
                draft = self._workers.draft(worker, kind, budget_mist)
                simulated = await simulate_transaction(connection, draft)
                status = simulated.effects.status
                if isinstance(status, ExecutionFailure):
                    return await self._after_failure(batch, status, held)
                if not self._is_covered(worker, simulated, held):
                    return await self._have_less(held)
            alone = held[0].execution if len(held) == 1 else None
            with self._accounts.reserve(alone, worker, simulated):
                executed = await self._sender.send(self._workers.sign(worker, kind, budget_mist))
        except UnreachableError:
            raise
        except NexusError as refusal:
            return await self._after_refusal(worker, refusal, held)
        self._metrics.closing_seconds.observe(perf_counter() - started)
        repaid_mist = worker.repaid_mist(executed, sum(self._fees_mist(executed).values()))
        self._metrics.gas_mist.inc(executed.cost.net - repaid_mist)
        worker.learn(executed)
        status = executed.effects.status
        self._accounts.note(batch.debtors_of(status), worker, executed)
        if isinstance(status, ExecutionFailure):
            return await self._after_failure(batch, status, held)
        return await self._after_success(executed, held)

    # --- What does not pay

    def _is_covered(self, worker: Worker, simulated: Simulated, held: Sequence[Closing]) -> bool:
        """Return whether a batch pays for itself; a single execution may owe a little."""
        execution = held[0].execution
        if len(held) == 1 and execution is not None:
            return self._accounts.covers(execution, worker, simulated)
        return len(held) == 1 or margin_mist(worker, simulated) >= 0

    async def _have_less(self, held: list[Closing]) -> None:
        """Have the next transaction cost less: fewer closings, less that follows, no answer."""
        if len(held) > 1:
            self._halve(held)
        elif not _reduced(held):
            [closing] = held
            invocation = closing.assignment.invocation
            _log.warning("unprofitable", invocation=str(invocation))
            if closing.fail_fee_mist and isinstance(closing.outcome, Answer):
                closing.fail_with(failure(FailureReason.REFUSED, _UNPROFITABLE))
                self._metrics.failed.labels(FailureReason.REFUSED.value).inc()
                await self._journal.known(invocation, closing.outcome)
            else:
                await self._note_closed(held, {closing: Closed.MISSED})

    # --- What was executed

    async def _after_success(self, executed: Executed, held: list[Closing]) -> None:
        self._wary, self._generosity = False, 1
        self._most = min(2 * self._most, self._config.batch_size)
        self._forget_trouble()
        self._metrics.closing_size.observe(len(held))
        fees = self._fees_mist(executed)
        closed: dict[Closing, Closed] = {}
        for closing in held:
            closing.fee_mist = fees.get(closing.assignment.invocation)
            if closing.fee_mist is not None:
                closed[closing] = closing.closes_as
        await self._note_closed(held, closed)
        if held:
            await self._drop_closed(held)
        # Others were passed over, too: by a node that is behind, they may look open yet.
        while held:
            self._set_back(held.pop())

    def _fees_mist(self, executed: Executed) -> dict[Address, int]:
        """What a transaction has earned with each invocation that it closed."""
        deployment = self._chain.deployment
        events = [parse_event(deployment, event) for event in executed.events]
        return {
            event.invocation: event.fee_mist
            for event in events
            if isinstance(event, moves.InvocationSettled | moves.InvocationFailed)
        }

    def _forget_trouble(self) -> None:
        self._trouble = ""
        self.troubled.clear()

    # --- What was not

    async def _after_refusal(
        self, worker: Worker, refusal: NexusError, held: list[Closing]
    ) -> None:
        """Find out why the node refused a transaction, which nothing has executed.

        An invocation was deleted, an epoch has ended, or the balance was spent by somebody else: it
        is another transaction without the one, or with what is true now. Raises
        `closing_refused` if it would be the same again.
        """
        before, count = self._workers.epoch, len(held)
        await self._workers.refresh()
        await self._drop_closed(held)
        is_poorer = worker.balance_mist < worker.reserved_mist
        if len(held) < count or self._workers.epoch != before or is_poorer:
            return
        if not _reduced(held):
            message = f"the node refuses the transaction: {refusal.message}"
            raise RefusedOnChainError("closing_refused", message)

    async def _after_failure(
        self, batch: ClosingBatch, status: ExecutionFailure, held: list[Closing]
    ) -> None:
        """Find out what of a batch is to blame that failed as a whole."""
        _log.warning("closing_failed", error=str(status.error), command=status.command)
        self._wary = True
        count = len(held)
        await self._drop_closed(held)
        guilty = batch.closing_of(status.command)
        execution = batch.execution_of(status.command)
        match _reason_of(status):
            case moves.ENotWorker | moves.ELeaderSuspended:
                # It is the same for all of them: another worker sends them, or nobody can.
                await self._workers.refresh()
                if self._workers.trouble:
                    raise NotNowError("closing_impossible", self._workers.trouble)
            case ErrorKind.INSUFFICIENT_FUNDS_FOR_WITHDRAW:
                await self._workers.refresh()
                raise NotNowError("balance_spent", "something else spends the worker's money")
            case ErrorKind.INSUFFICIENT_GAS if self._generosity < _MOST_GENEROUS:
                self._generosity *= 2
            case _ if guilty in held:
                held.remove(guilty)
                self._refused(guilty)
            case _ if _reduced(held, execution):
                pass  # what follows never keeps an invocation from being closed
            case _ if len(held) < count:
                pass
            case _ if len(held) > 1:
                self._halve(held)  # nobody is known to blame: fewer at a time find out who is
            case _:
                self._refused(held.pop())

    def _refused(self, closing: Closing) -> None:
        self._note_trouble(f"the chain refuses to close {closing.assignment.invocation}")
        self._set_back(closing)

    def _halve(self, held: list[Closing]) -> None:
        """Let go of the second half of them, which is taken in its turn."""
        middle = len(held) // 2
        for closing in held[middle:]:
            self.queue.put(closing)
        del held[middle:]

    def _set_back(self, closing: Closing) -> None:
        """Try it again later, for the chain does not say that it is lost."""
        closing.setbacks += 1
        pause = self._config.trouble_pause_ms / 1000 * 2 ** min(closing.setbacks - 1, 10)
        pause = min(pause, _LONGEST_SETBACK_SECONDS)
        asyncio.get_running_loop().call_later(pause, self.queue.put, closing)

    async def _drop_closed(self, held: list[Closing]) -> None:
        """Ask the chain about all of them, and let go of what is closed or too late."""
        await self._clock.refresh()
        found = await self._chain.closed([closing.assignment for closing in held])
        closed: dict[Closing, Closed] = {}
        for closing in held:
            how = found.get(closing.assignment.invocation)
            if how is None and closing.is_missed_at(self._clock.now_ms()):
                how = Closed.MISSED
            if how is not None:
                closed[closing] = how
        await self._note_closed(held, closed)

    async def _note_closed(self, held: list[Closing], closed: Mapping[Closing, Closed]) -> None:
        by_id = {closing.assignment.invocation: how for closing, how in closed.items()}
        if by_id:
            await self._journal.closed(by_id, self._clock.now_ms())
        for closing, how in closed.items():
            closing.close(how)
            held.remove(closing)


_UNPROFITABLE = "to settle this answer costs more gas than it pays"


def _reduced(held: Sequence[Closing], execution: Address | None = None) -> bool:
    """Have less follow in an execution, or in all of them; whether anything was to follow."""
    going_on = [
        each.continuation
        for each in held
        if each.continuation
        and each.continuation.extent
        and execution in (None, each.continuation.execution.object_id)
    ]
    for continuation in going_on:
        continuation.reduce()
    return bool(going_on)


_REASONS = {reason.code: reason for reason in moves.ERRORS}


def _reason_of(status: ExecutionFailure) -> MoveError | ErrorKind:
    """The reason for which the module `invocation` aborted, or what kind of failure it was."""
    abort = status.error.data
    if isinstance(abort, MoveAbort) and abort.location.module == "invocation":
        return _REASONS.get(abort.code, status.error.kind)
    return status.error.kind
