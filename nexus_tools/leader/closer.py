"""Closes invocations, several with one transaction; one that cannot be does not stop others.

A transaction fails as a whole. Then the chain is asked what has become of each invocation: those
that are closed are done with, the one whose command failed waits a little, the others go on. After
a failed execution transactions are simulated first, so that it costs gas once.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

from nexus_tools.client import Executed, simulate_transaction
from nexus_tools.errors import NexusError, RefusedOnChainError, UnreachableError
from nexus_tools.leader.account import Account, TransactionSender
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.closing import Closed, Closing, ClosingBatch
from nexus_tools.leader.closing_queue import ClosingQueue
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.journal import Journal, SignedTransaction
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.logs import get_logger, in_short
from nexus_tools.package import parse_event
from nexus_tools.package.move.invocation import InvocationFailed, InvocationSettled
from nexus_tools.sui.address import Address
from nexus_tools.sui.effects import TransactionEffects
from nexus_tools.sui.execution_status import ErrorKind, ExecutionFailure
from nexus_tools.sui.transaction import SharedObject, TransactionData

_log = get_logger("nexus_tools.leader")

_LONGEST_SETBACK_SECONDS = 5.0
_MOST_GENEROUS = 16


class Closer:
    """Takes closings from its queue; one transaction is under way at a time."""

    def __init__(
        self,
        config: LeaderConfig,
        chain: Chain,
        *,
        leaders: SharedObject,
        account: Account,
        journal: Journal,
        clock: ChainClock,
        metrics: LeaderMetrics,
    ) -> None:
        self._config = config
        self._chain = chain
        self._leaders = leaders
        self._account = account
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._sender = TransactionSender(chain.client, config.trouble_pause_ms)
        self._trouble = ""
        # What the last failures taught: whether a closing is simulated before it is sent, by what
        # its budget is multiplied, and how many are put into one transaction.
        self._wary = False
        self._generosity = 1
        self._most = config.batch_size
        self._under_way = asyncio.Lock()
        self.queue = ClosingQueue(config)
        self.troubled = asyncio.Event()

    @property
    def trouble(self) -> str:
        """What keeps this Leader from closing invocations; empty if nothing does."""
        return self._trouble or self._sender.trouble

    async def run(self) -> None:
        """Close what comes, without end."""
        while True:
            closings = await self.queue.take(self._most)
            async with self._under_way:
                await self._close(closings)

    async def rest(self) -> None:
        """Return when the batch that is under way is dealt with, if there is one."""
        async with self._under_way:
            return

    async def recover(self, transactions: Iterable[SignedTransaction]) -> None:
        """Find out about transactions that an earlier run signed, before anything is signed."""
        for transaction in transactions:
            executed = await self._sender.recover(transaction)
            # The chain tells by the invocations themselves what this one has closed.
            _log.info("recovered", digest=str(transaction.digest), known=executed is not None)
            await self._journal.closed(transaction.digest, {}, self._clock.now_ms())

    # --- One batch

    async def _close(self, closings: list[Closing]) -> None:
        try:
            while closings:
                closings = await self._try(closings)
        except NexusError as error:
            if error.code == "journal_failed":
                raise
            if not isinstance(error, UnreachableError):  # of which the heartbeat tells
                _log.warning("closing_postponed", code=error.code, error=error.message)
            await self._postpone(closings, error.message)
        except Exception as error:  # noqa: BLE001 - the others go on, and the journal has it all
            _log.error("closing_broke", error=in_short(error))
            await self._postpone(closings, "closing broke, the log says why")

    async def _postpone(self, closings: Sequence[Closing], message: str) -> None:
        """Trouble of the Leader's own is no reason to give up anything.

        Fewer at a time find the one, if there is one, that no transaction can close.
        """
        self._note_trouble(message)
        self._account.forget()
        self._wary = True
        self._most = max(1, self._most // 2)
        if len(closings) == 1:
            self._set_back(closings[0])
            return
        await asyncio.sleep(self._config.trouble_pause_ms / 1000)
        for closing in closings:
            self.queue.put(closing)

    def _note_trouble(self, message: str) -> None:
        """Told by `trouble` and `troubled` until something is closed again."""
        self._trouble = message
        self.troubled.set()
        self._metrics.trouble.labels("closer").inc()

    async def _try(self, closings: list[Closing]) -> list[Closing]:
        """Close them with one transaction; returns what is to be tried again at once."""
        closings = await self._still_open(closings)
        if not closings:
            self._forget_trouble()
            return []
        batch = ClosingBatch(self._chain.deployment, self._leaders, closings)
        data = await self._draft(batch)
        if self._wary:
            effects = await self._simulate(data)
            if isinstance(effects.status, ExecutionFailure):
                return await self._after_failure(batch, effects.status)
        executed = await self._send(self._account.sign(data), closings)
        if executed is None:
            raise RefusedOnChainError("closing_refused", "the node refuses the transaction")
        return await self._after_execution(batch, executed)

    async def _draft(self, batch: ClosingBatch) -> TransactionData:
        price = await self._account.price()
        budget = batch.budget_mist(price) * self._generosity
        await self._account.ensure(budget)
        return self._account.draft(batch.build(self._account.cap_argument()), budget)

    async def _still_open(self, closings: list[Closing]) -> list[Closing]:
        """Without those that another leader may have closed, and has."""
        now_ms = self._clock.now_ms()
        if not any(one.setbacks or one.assignment.is_shared_at(now_ms) for one in closings):
            return closings
        return await self._drop_closed(closings)

    async def _simulate(self, data: TransactionData) -> TransactionEffects:
        simulated = await simulate_transaction(self._chain.client.connection, data)
        return simulated.effects

    async def _send(
        self, transaction: SignedTransaction, closings: Sequence[Closing]
    ) -> Executed | None:
        invocations = [closing.assignment.invocation for closing in closings]
        await self._journal.closing(invocations, transaction)
        started = perf_counter()
        executed = await self._sender.send(transaction)
        self._metrics.closing_seconds.observe(perf_counter() - started)
        if executed is None:
            await self._journal.closed(transaction.digest, {}, self._clock.now_ms())
        else:
            self._account.learn(executed.effects)
            self._metrics.gas_mist.inc(executed.cost.net)
        return executed

    async def _after_execution(self, batch: ClosingBatch, executed: Executed) -> list[Closing]:
        status = executed.effects.status
        if isinstance(status, ExecutionFailure):
            await self._journal.closed(executed.digest, {}, self._clock.now_ms())
            return await self._after_failure(batch, status)
        self._succeeded()
        self._metrics.closing_size.observe(len(batch.closings))
        closed = {one.assignment.invocation: one.closes_as for one in batch.closings}
        await self._note_closed(batch.closings, closed, executed)
        return []

    def _succeeded(self) -> None:
        self._wary, self._generosity = False, 1
        self._most = min(2 * self._most, self._config.batch_size)
        self._forget_trouble()

    def _forget_trouble(self) -> None:
        self._trouble = ""
        self.troubled.clear()

    # --- What failed

    async def _after_failure(self, batch: ClosingBatch, status: ExecutionFailure) -> list[Closing]:
        _log.warning("closing_failed", error=str(status.error), command=status.command)
        self._wary = True
        if status.error.kind is ErrorKind.INSUFFICIENT_GAS:
            self._generosity = min(2 * self._generosity, _MOST_GENEROUS)
        guilty = batch.closing_of(status.command)
        left = await self._drop_closed(batch.closings)
        if guilty in left:
            left.remove(guilty)
            self._note_trouble(f"the chain refuses to close {guilty.assignment.invocation}")
            self._set_back(guilty)
        elif len(left) == len(batch.closings):
            return self._halve(left)
        return left

    def _halve(self, closings: list[Closing]) -> list[Closing]:
        """Nobody is to blame: fewer at a time find out who is."""
        if len(closings) == 1:
            self._note_trouble(f"the chain refuses to close {closings[0].assignment.invocation}")
            self._set_back(closings[0])
            return []
        middle = len(closings) // 2
        for closing in closings[middle:]:
            self.queue.put(closing)
        return closings[:middle]

    def _set_back(self, closing: Closing) -> None:
        """Try it again later, for the chain does not say that it is lost."""
        closing.setbacks += 1
        pause = self._config.trouble_pause_ms / 1000 * 2 ** min(closing.setbacks - 1, 10)
        pause = min(pause, _LONGEST_SETBACK_SECONDS)
        asyncio.get_running_loop().call_later(pause, self.queue.put, closing)

    async def _drop_closed(self, closings: Sequence[Closing]) -> list[Closing]:
        """Ask the chain about all of them; those that are still to be closed."""
        await self._clock.refresh()
        closed = await self._chain.closed([closing.assignment for closing in closings])
        for closing in closings:
            if self._clock.now_ms() >= closing.assignment.expires_at_ms:
                closed.setdefault(closing.assignment.invocation, Closed.MISSED)
        done = [closing for closing in closings if closing.assignment.invocation in closed]
        if done:
            await self._note_closed(done, closed, None)
        return [closing for closing in closings if closing.assignment.invocation not in closed]

    def _fees_mist(self, executed: Executed) -> dict[Address, int]:
        """What a transaction has earned with each invocation."""
        deployment = self._chain.deployment
        events = [parse_event(deployment, event) for event in executed.events]
        return {
            event.invocation: event.fee_mist
            for event in events
            if isinstance(event, InvocationSettled | InvocationFailed)
        }

    async def _note_closed(
        self,
        closings: Sequence[Closing],
        closed: Mapping[Address, Closed],
        executed: Executed | None,
    ) -> None:
        digest = executed.digest if executed else None
        await self._journal.closed(digest, closed, self._clock.now_ms())
        fees = self._fees_mist(executed) if executed else {}
        for closing in closings:
            closing.fee_mist = fees.get(closing.assignment.invocation)
            closing.close(closed[closing.assignment.invocation])
