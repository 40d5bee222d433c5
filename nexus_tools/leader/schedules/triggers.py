"""Begins executions of schedules: simulated first, and sent if that begins one, and pays."""

from collections.abc import Collection, Sequence

from nexus_tools.contracts import parse_event
from nexus_tools.contracts.move_bindings.workflows.dag import Dag
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    Order,
    Schedule,
    ScheduleTriggered,
)
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.workflow_cache import CarriedWorkflows
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import Schedules, ScheduleStanding, standing_of
from nexus_tools.sui.client import Cursor, simulate_transaction
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.execution_status import ExecutionFailure
from nexus_tools.sui.types.object import Object, Shared
from nexus_tools.sui.types.transaction import (
    ObjectArgument,
    OwnedObject,
    ProgrammableTransaction,
    SharedObject,
)

_log = get_logger("nexus_tools.leader")

# More than a trigger takes: for itself, and for each vertex with which an execution begins.
_BYTES, _VERTEX_BYTES, _UNITS = 4_000, 1_000, 10_000
_BYTE_MIST = 7_600


class Triggers:
    """What begins an execution of a schedule, and is paid for it."""

    def __init__(
        self,
        chain: Chain,
        workflows: CarriedWorkflows,
        workers: Workers,
        sender: TransactionSender,
        metrics: LeaderMetrics,
    ) -> None:
        self._chain = chain
        self._verbs = Schedules(chain.client, chain.deployment)
        self._workflows = workflows
        self._workers = workers
        self._sender = sender
        self._metrics = metrics

    async def state(self, schedule: Address) -> tuple[Schedule, Order]:
        """A schedule as it is now, and to what its owner consented. Raises `schedule_unknown`."""
        return await self._verbs.get(schedule), await self._verbs.order(schedule)

    async def executions(self, schedule: Schedule, began: Collection[Address]) -> list[Execution]:
        """Those of these executions that a schedule has not collected, as they are now."""
        found = await self._chain.objects([*began])
        there = [self._chain.deployment.decode(each, Execution) for each in found if each]
        return [each for each in there if each.schedule == schedule.id]

    async def uncollected(self, schedule: Address) -> tuple[Execution, ...]:
        """All executions that a schedule has not collected, as far as the node keeps events."""
        return await self._verbs.uncollected(schedule)

    async def standing(
        self, schedule: Schedule, order: Order, began: Sequence[Execution], now_ms: int
    ) -> ScheduleStanding:
        """How a schedule stands. Raises what is wrong with its workflow."""
        workflow = (await self._workflows.of(schedule.dag)).published
        now = {"now_ms": now_ms, "gas_price": self._workers.epoch.gas_price}
        return await standing_of(self._verbs, schedule, order, workflow, began, **now)

    async def begin(
        self, standing: ScheduleStanding, event: Cursor | None = None
    ) -> ScheduleTriggered | None:
        """Begin what is due, if something is, and it pays; what has ended is collected first.

        With an `event`, what that makes due.
        """
        builder = TransactionBuilder()
        schedule, order = standing.schedule, standing.order
        ended = [each.execution for each in standing.left]
        await self._verbs.add_trigger(builder, schedule, self._chain.leader, ended, event)
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
                return None
            triggered = self._triggered(simulated.events)
            if triggered is None or _paid_mist(triggered) < simulated.cost.net:
                return None
            signed = self._workers.sign(worker, kind, budget_mist)
            executed = await self._sender.send(signed)
            worker.learn(executed)
            repaid_mist = worker.repaid_mist(executed, 0)
            self._metrics.gas_mist.inc(executed.cost.net - repaid_mist)
            triggered = self._triggered(executed.events)
            paid_mist = _paid_mist(triggered) if triggered else 0
            _log.info("triggered", schedule=str(schedule.id), paid_mist=paid_mist)
            return triggered

    def _triggered(self, events: Sequence[Event]) -> ScheduleTriggered | None:
        """What a transaction with these events began; None if it is nothing."""
        told = (parse_event(self._chain.deployment, event) for event in events)
        return next((each for each in told if isinstance(each, ScheduleTriggered)), None)

    async def _finished(self, builder: TransactionBuilder) -> ProgrammableTransaction:
        wanted = builder.unresolved()
        found = await self._chain.objects([each.object_id for each in wanted])
        known: dict[Address, ObjectArgument] = {}
        for each, value in zip(wanted, found, strict=True):
            if value is not None:
                known[each.object_id] = _argument(value, mutable=each.mutable)
        return builder.finish(known)


def _paid_mist(triggered: ScheduleTriggered) -> int:
    return triggered.fee_mist + triggered.stored_mist


def _argument(value: Object, *, mutable: bool) -> ObjectArgument:
    if isinstance(value.owner, Shared):
        return SharedObject(value.id, value.owner.initial_version, mutable)
    return OwnedObject(value.reference())
