"""The schedules that name this leader: begins what is due, and is paid for it.

What is due when, the chain says: a transaction that would begin nothing, or cost more than it pays,
is simulated and not sent. Those that wait for events are left to keepers of their owners.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from nexus_tools.client import past_events, simulate_transaction
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.leader.chain import Chain
from nexus_tools.leader.chain_clock import ChainClock
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.event_page import EventPage
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.transaction_sender import TransactionSender
from nexus_tools.leader.workers import Workers
from nexus_tools.logs import get_logger, in_short
from nexus_tools.package import RegistryEvent, ScheduleState, event_filter, parse_event
from nexus_tools.package.move.workflows import schedule as moves
from nexus_tools.package.move.workflows.dag import Dag
from nexus_tools.package.move.workflows.execution import Execution, ExecutionEnded
from nexus_tools.package.move.workflows.timing import Plan
from nexus_tools.registry import Schedules as Verbs
from nexus_tools.sui.address import Address
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.event import Event
from nexus_tools.sui.execution_status import ExecutionFailure
from nexus_tools.sui.object import Object, Shared
from nexus_tools.sui.transaction import (
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)

_log = get_logger("nexus_tools.leader")

# The events of one transaction come one after the other.
_GRACE_MS = 200
# schedule::WINDOW_MS
_WINDOW_MS = 10_000
# What could not begin is looked at again so much later, unless an event says more.
_LATER_MS = 60_000
# More than a trigger takes: for itself, and for each vertex with which an execution begins.
_BYTES, _VERTEX_BYTES, _UNITS = 4_000, 1_000, 10_000
_BYTE_MIST = 7_600


class Schedules:
    """One task, which sleeps until something is due."""

    def __init__(
        self,
        config: LeaderConfig,
        chain: Chain,
        workers: Workers,
        clock: ChainClock,
        metrics: LeaderMetrics,
    ) -> None:
        self._config = config
        self._chain = chain
        self._verbs = Verbs(chain.client, chain.deployment)
        self._workers = workers
        self._sender = TransactionSender(chain.client, config.trouble_pause_ms)
        self._clock = clock
        self._metrics = metrics
        self._due: dict[Address, int] = {}
        self._named: set[Address] = set()
        self._began: defaultdict[Address, set[Address]] = defaultdict(set)
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Find what there is, and then do what is due, without end."""
        await self._search()
        while True:
            schedule = await self._next()
            at_ms = self._due.pop(schedule)
            try:
                await self._look(schedule)
            except UnreachableError:
                self._due.setdefault(schedule, at_ms)
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
            except NexusError as error:
                self._metrics.trouble.labels("schedules").inc()
                _log.warning("schedule_postponed", schedule=str(schedule), error=in_short(error))
                self._plan(schedule, self._clock.now_ms() + _LATER_MS)

    async def _search(self) -> None:
        """Take in what events told before, as far as the node has them."""
        kinds = event_filter(self._chain.deployment, *self._MEANINGS)
        while True:
            try:
                async for record in past_events(self._chain.client, kinds):
                    event = parse_event(self._chain.deployment, record.event)
                    if event is not None:
                        self._take(event)
            except UnreachableError:
                await asyncio.sleep(self._config.trouble_pause_ms / 1000)
            else:
                return

    async def _next(self) -> Address:
        """The schedule that is due first, once it is."""
        while True:
            self._changed.clear()
            if not self._due:
                await self._changed.wait()
                continue
            schedule, at_ms = min(self._due.items(), key=lambda item: item[1])
            if at_ms <= self._clock.now_ms():
                return schedule
            waits: set[asyncio.Task[object]] = {
                asyncio.create_task(self._changed.wait()),
                asyncio.create_task(self._clock.wait_until(at_ms)),
            }
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()

    # --- What events mean

    def observe(self, page: EventPage) -> None:
        """Take in what events tell."""
        for event in page.schedules:
            self._take(event)

    def _take(self, event: RegistryEvent) -> None:
        self._MEANINGS[type(event)](self, event)

    def _named_by(self, event: moves.ScheduleCreated | moves.ScheduleLeadersChanged) -> None:
        if self._chain.leader in event.leaders:
            self._named.add(event.schedule)
            self._soon(event.schedule)
        else:
            self._forget(event.schedule)

    def _triggered(self, event: moves.ScheduleTriggered) -> None:
        self._began[event.schedule].add(event.execution)
        self._soon(event.schedule)

    def _collected(self, event: moves.ScheduleCollected) -> None:
        self._began[event.schedule].discard(event.execution)
        self._soon(event.schedule)

    def _changed_by(self, event: moves.ScheduleActivityChanged | moves.ScheduleRefilled) -> None:
        self._soon(event.schedule)

    def _cancelled(self, event: moves.ScheduleCancelled) -> None:
        self._forget(event.schedule)

    def _ended(self, event: ExecutionEnded) -> None:
        for schedule, began in self._began.items():
            if event.execution in began:
                self._soon(schedule)

    _MEANINGS: ClassVar[Mapping[type[RegistryEvent], Callable[..., None]]] = {
        moves.ScheduleCreated: _named_by,
        moves.ScheduleLeadersChanged: _named_by,
        moves.ScheduleTriggered: _triggered,
        moves.ScheduleCollected: _collected,
        moves.ScheduleActivityChanged: _changed_by,
        moves.ScheduleRefilled: _changed_by,
        moves.ScheduleCancelled: _cancelled,
        ExecutionEnded: _ended,
    }

    def _soon(self, schedule: Address) -> None:
        self._plan(schedule, self._clock.now_ms() + _GRACE_MS)

    def _plan(self, schedule: Address, at_ms: int) -> None:
        if schedule in self._named:
            self._due[schedule] = min(at_ms, self._due.get(schedule, at_ms))
            self._changed.set()

    def _forget(self, schedule: Address) -> None:
        self._named.discard(schedule)
        self._due.pop(schedule, None)
        self._began.pop(schedule, None)

    # --- Doing it

    async def _look(self, place: Address) -> None:
        try:
            schedule, order = await self._verbs.get(place), await self._verbs.order(place)
        except NotFoundError:
            self._forget(place)
            return
        leader = self._chain.leader
        if leader not in order.terms.leaders or isinstance(order.timing.plan, Plan.OnEvent):
            self._forget(place)
            return
        if schedule.state is not ScheduleState.ACTIVE or schedule.next_at_ms is None:
            return  # an event tells if that changes
        now_ms = self._clock.now_ms()
        mine_at_ms = schedule.next_at_ms + order.terms.leaders.index(leader) * _WINDOW_MS
        if mine_at_ms > now_ms:
            self._plan(place, mine_at_ms)
        elif not await self._trigger(schedule, order):
            self._plan(place, now_ms + _LATER_MS)

    async def _trigger(self, schedule: moves.Schedule, order: moves.Order) -> bool:
        """Begin what is due, if something is, and it pays."""
        builder = TransactionBuilder()
        ids = [*self._began[schedule.id]]
        read = await self._chain.objects(ids)
        began = [self._chain.deployment.decode(each, Execution) for each in read if each]
        await self._verbs.add_trigger(builder, schedule, self._chain.leader, began)
        (dag,) = await self._chain.objects([schedule.dag])
        assert dag is not None  # it is frozen
        vertices = len(self._chain.deployment.decode(dag, Dag).groups[order.group].vertices)
        stored = _BYTES + _VERTEX_BYTES * vertices + order.values_bytes
        budget_mist = stored * _BYTE_MIST + _UNITS * self._workers.epoch.gas_price
        kind = await self._finished(builder)
        async with self._workers.paying(budget_mist) as worker:
            draft = self._workers.draft(worker, kind, budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
            if isinstance(simulated.effects.status, ExecutionFailure):
                reason = str(simulated.effects.status.error)
                _log.warning("trigger_refused", schedule=str(schedule.id), error=reason)
                return False
            paid_mist = self._paid_mist(simulated.events)
            if paid_mist is None or paid_mist < simulated.cost.net:
                return False
            signed = self._workers.sign(worker, kind, budget_mist)
            executed = await self._sender.send(signed)
            worker.learn(executed)
            paid_mist = self._paid_mist(executed.events) or 0
            repaid_mist = worker.repaid_mist(executed, 0)
            self._metrics.gas_mist.inc(executed.cost.net - repaid_mist)
            _log.info("triggered", schedule=str(schedule.id), paid_mist=paid_mist)
            return paid_mist > 0

    def _paid_mist(self, events: Sequence[Event]) -> int | None:
        """What a keeper is paid by a transaction with these events; None if it began nothing."""
        for event in events:
            told = parse_event(self._chain.deployment, event)
            if isinstance(told, moves.ScheduleTriggered):
                return told.fee_mist + told.stored_mist
        return None

    async def _finished(self, builder: TransactionBuilder) -> ProgrammableTransaction:
        wanted = builder.unresolved()
        found = await self._chain.objects([each.object_id for each in wanted])
        known: dict[Address, ObjectArgument] = {}
        for each, value in zip(wanted, found, strict=True):
            if value is not None:
                known[each.object_id] = _argument(value, mutable=each.mutable)
        return builder.finish(known)


def _argument(value: Object, *, mutable: bool) -> ObjectArgument:
    if isinstance(value.owner, Shared):
        return SharedObject(value.id, value.owner.initial_version, mutable)
    return OwnedObject(value.reference())
