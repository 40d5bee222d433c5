"""Writes outcomes on chain, several with one transaction; one that cannot be does not stop others.

A transaction fails as a whole. Then the chain is asked what has become of each invocation: closed
ones have ended, the one whose command failed waits a little, the others go on. After a failure
transactions are simulated first, so that it costs gas once.
"""

import asyncio
from collections.abc import Iterable, Sequence
from time import perf_counter

import structlog

from nexus_tools.client import Executed
from nexus_tools.client.submission import simulate_transaction
from nexus_tools.errors import NexusError, RefusedOnChainError
from nexus_tools.leader.account import Account
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.closing import Closing
from nexus_tools.leader.closing_queue import ClosingQueue
from nexus_tools.leader.journal import Journal
from nexus_tools.leader.journal_entry import Ending, SignedTransaction
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.settings import LeaderSettings
from nexus_tools.leader.settlement import Settlement
from nexus_tools.leader.transaction_sender import TransactionSender
from nexus_tools.sui.address import Address
from nexus_tools.sui.effects import TransactionEffects
from nexus_tools.sui.execution_status import ErrorKind, Failure
from nexus_tools.sui.transaction import SharedObject, TransactionData

_log = structlog.get_logger("nexus_tools.leader")

_LONGEST_SETBACK_SECONDS = 5.0
_MOST_GENEROUS = 16


class Settler:
    """Takes closings from its queue and ends them; one transaction is under way at a time."""

    def __init__(
        self,
        settings: LeaderSettings,
        chain: Chain,
        *,
        leaders: SharedObject,
        account: Account,
        journal: Journal,
        clock: ChainClock,
        metrics: LeaderMetrics,
    ) -> None:
        self._settings = settings
        self._chain = chain
        self._leaders = leaders
        self._account = account
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._sender = TransactionSender(chain.client, settings.trouble_pause_ms)
        self._trouble = ""
        self._wary = False
        self._generosity = 1
        self._most = settings.batch_size
        self.queue = ClosingQueue(settings)
        self.troubled = asyncio.Event()

    @property
    def trouble(self) -> str:
        """What keeps this Leader from settling; empty if nothing does."""
        return self._trouble or self._sender.trouble

    async def run(self) -> None:
        """Settle what comes, without end."""
        while True:
            await self._close(await self.queue.take(self._most))

    async def recover(self, transactions: Iterable[SignedTransaction]) -> None:
        """Find out about transactions that an earlier run signed, before anything is signed."""
        for transaction in transactions:
            executed = await self._sender.recover(transaction)
            # The chain tells by the invocations themselves what this one has closed.
            _log.info("recovered", digest=str(transaction.digest), known=executed is not None)
            await self._journal.settled(transaction.digest, {}, self._clock.now_ms())

    # --- One batch

    async def _close(self, batch: list[Closing]) -> None:
        try:
            while batch:
                batch = await self._attempt(batch)
        except NexusError as error:
            if error.code == "journal_failed":
                raise
            _log.warning("settling_postponed", code=error.code, error=error.message)
            await self._postpone(batch, error.message)
        except Exception:  # noqa: BLE001 - the others go on, and the journal has it all
            _log.exception("settling_broke")
            await self._postpone(batch, "settling broke, the log says why")

    async def _postpone(self, batch: Sequence[Closing], message: str) -> None:
        """Trouble of the Leader's own is no reason to give up anything.

        Fewer at a time find the one, if there is one, that no transaction can close.
        """
        self._note_trouble(message)
        self._account.forget()
        self._wary = True
        self._most = max(1, self._most // 2)
        if len(batch) == 1:
            self._set_back(batch[0])
            return
        await asyncio.sleep(self._settings.trouble_pause_ms / 1000)
        for closing in batch:
            self.queue.put(closing)

    def _note_trouble(self, message: str) -> None:
        """Told by `trouble` and `troubled` until something is settled again."""
        self._trouble = message
        self.troubled.set()
        self._metrics.trouble.labels("settler").inc()

    async def _attempt(self, batch: list[Closing]) -> list[Closing]:
        """Close the batch with one transaction; returns what is to be tried again at once."""
        batch = await self._still_open(batch)
        if not batch:
            return []
        settlement = Settlement(self._chain.deployment, self._leaders, batch)
        data = await self._draft(settlement)
        if self._wary:
            effects = await self._simulate(data)
            if isinstance(effects.status, Failure):
                return await self._after_failure(settlement, effects.status)
        executed = await self._send(self._account.sign(data), batch)
        if executed is None:
            raise RefusedOnChainError("settling_refused", "the node refuses the transaction")
        return await self._after_execution(settlement, executed)

    async def _draft(self, settlement: Settlement) -> TransactionData:
        price = await self._account.price()
        budget = settlement.budget_mist(price) * self._generosity
        await self._account.ensure(budget)
        return self._account.draft(settlement.build(self._account.cap_argument()), budget)

    async def _still_open(self, batch: list[Closing]) -> list[Closing]:
        """Without those that another leader may have closed, and has."""
        now_ms = self._clock.now_ms()
        if not any(one.setbacks or one.assignment.is_shared_at(now_ms) for one in batch):
            return batch
        return await self._drop_closed(batch)

    async def _simulate(self, data: TransactionData) -> TransactionEffects:
        simulated = await simulate_transaction(self._chain.client.connection, data)
        return simulated.effects

    async def _send(
        self, transaction: SignedTransaction, batch: Sequence[Closing]
    ) -> Executed | None:
        invocations = [closing.assignment.invocation for closing in batch]
        await self._journal.settling(invocations, transaction)
        started = perf_counter()
        executed = await self._sender.send(transaction)
        self._metrics.settlement_seconds.observe(perf_counter() - started)
        if executed is None:
            await self._journal.settled(transaction.digest, {}, self._clock.now_ms())
        else:
            self._account.learn(executed.effects)
            self._metrics.gas_mist.inc(executed.cost.net)
        return executed

    async def _after_execution(self, settlement: Settlement, executed: Executed) -> list[Closing]:
        status = executed.effects.status
        if isinstance(status, Failure):
            await self._journal.settled(executed.digest, {}, self._clock.now_ms())
            return await self._after_failure(settlement, status)
        self._succeeded()
        self._metrics.settlement_size.observe(len(settlement.closings))
        endings = {one.assignment.invocation: one.ending for one in settlement.closings}
        await self._end(settlement.closings, endings, executed)
        return []

    def _succeeded(self) -> None:
        self._wary, self._generosity = False, 1
        self._most = min(2 * self._most, self._settings.batch_size)
        self._trouble = ""
        self.troubled.clear()

    # --- What failed

    async def _after_failure(self, settlement: Settlement, status: Failure) -> list[Closing]:
        _log.warning("settling_failed", error=str(status.error), command=status.command)
        self._wary = True
        if status.error.kind is ErrorKind.INSUFFICIENT_GAS:
            self._generosity = min(2 * self._generosity, _MOST_GENEROUS)
        guilty = settlement.closing_of(status.command)
        left = await self._drop_closed(settlement.closings)
        if guilty in left:
            left.remove(guilty)
            self._note_trouble(f"the chain refuses to close {guilty.assignment.invocation}")
            self._set_back(guilty)
        elif len(left) == len(settlement.closings):
            return self._halve(left)
        return left

    def _halve(self, batch: list[Closing]) -> list[Closing]:
        """Nobody is to blame: fewer at a time find out who is."""
        if len(batch) == 1:
            self._note_trouble(f"the chain refuses to close {batch[0].assignment.invocation}")
            self._set_back(batch[0])
            return []
        middle = len(batch) // 2
        for closing in batch[middle:]:
            self.queue.put(closing)
        return batch[:middle]

    def _set_back(self, closing: Closing) -> None:
        """Try it again later, for the chain does not say that it is lost."""
        closing.setbacks += 1
        pause = self._settings.trouble_pause_ms / 1000 * 2 ** min(closing.setbacks - 1, 10)
        pause = min(pause, _LONGEST_SETBACK_SECONDS)
        asyncio.get_running_loop().call_later(pause, self.queue.put, closing)

    async def _drop_closed(self, batch: Sequence[Closing]) -> list[Closing]:
        """Ask the chain about all of them; those that are still to be closed."""
        await self._clock.refresh()
        found = await self._chain.endings([closing.assignment for closing in batch])
        endings = dict(found)
        for closing in batch:
            if self._clock.now_ms() >= closing.assignment.expires_at_ms:
                endings.setdefault(closing.assignment.invocation, Ending.MISSED)
        ended = [closing for closing in batch if closing.assignment.invocation in endings]
        if ended:
            await self._end(ended, endings, None)
        return [closing for closing in batch if closing.assignment.invocation not in endings]

    async def _end(
        self,
        closings: Sequence[Closing],
        endings: dict[Address, Ending],
        executed: Executed | None,
    ) -> None:
        digest = executed.digest if executed else None
        await self._journal.settled(digest, endings, self._clock.now_ms())
        for closing in closings:
            closing.end(endings[closing.assignment.invocation])
