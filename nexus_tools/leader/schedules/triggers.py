"""Starts of scheduled executions, if the simulation shows a start whose fee covers the gas."""

from collections.abc import Collection, Sequence

from nexus_tools.contracts import parse_event
from nexus_tools.contracts.move_bindings.workflows.dag import Dag
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    Schedule,
    ScheduleTriggered,
    StandingOrder,
)
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.workflow_cache import WorkflowCache
from nexus_tools.leader.closing.transaction_sender import TransactionSender
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import ScheduleOverview, Schedules, schedule_overview
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

# Upper bounds for starting an execution: its stored bytes, additional bytes for each start vertex,
# and gas units.
_BASE_BYTES, _VERTEX_BYTES, _UNITS = 4_000, 1_000, 10_000
_BYTE_MIST = 7_600


class TriggerExecutor:
    """An executor that starts executions of schedules and earns the keeper fee."""

    def __init__(
        self,
        chain: Chain,
        workflows: WorkflowCache,
        workers: Workers,
        sender: TransactionSender,
        metrics: LeaderMetrics,
    ) -> None:
        self._chain = chain
        self._commands = Schedules(chain.client, chain.deployment)
        self._workflows = workflows
        self._workers = workers
        self._sender = sender
        self._metrics = metrics

    async def read_schedule(self, schedule: Address) -> tuple[Schedule, StandingOrder]:
        """Return a schedule and its owner's standing order. Raises `schedule_unknown`."""
        return await self._commands.get(schedule), await self._commands.order(schedule)

    async def executions(self, schedule: Schedule, began: Collection[Address]) -> list[Execution]:
        """Return the executions in `began` that the schedule has not collected."""
        objects = await self._chain.objects([*began])
        executions = [self._chain.deployment.decode(value, Execution) for value in objects if value]
        return [value for value in executions if value.schedule == schedule.id]

    async def uncollected(self, schedule: Address) -> tuple[Execution, ...]:
        """Return the uncollected executions of a schedule whose events the node still has."""
        return await self._commands.uncollected(schedule)

    async def overview(
        self, schedule: Schedule, order: StandingOrder, began: Sequence[Execution], now_ms: int
    ) -> ScheduleOverview:
        """Return the state of a schedule. Raises an error if its workflow is invalid."""
        workflow = (await self._workflows.of(schedule.dag)).published
        now = {"now_ms": now_ms, "gas_price": self._workers.epoch.gas_price}
        return await schedule_overview(self._commands, schedule, order, workflow, began, **now)

    async def trigger(
        self, overview: ScheduleOverview, event: Cursor | None = None
    ) -> ScheduleTriggered | None:
        """Collect ended executions and start a due execution, if the keeper fee covers the gas.

        If `event` is passed, start the execution that the event triggers. Return None if no
        execution was started.
        """
        builder = TransactionBuilder()
        schedule, order = overview.schedule, overview.order
        ended_ids = [collectable.execution for collectable in overview.ended]
        await self._commands.add_trigger(builder, schedule, self._chain.leader, ended_ids, event)
        (dag,) = await self._chain.objects([schedule.dag])
        assert dag is not None  # a workflow is never deleted
        vertices = len(self._chain.deployment.decode(dag, Dag).groups[order.group].vertices)
        stored = _BASE_BYTES + _VERTEX_BYTES * vertices + order.values_bytes
        budget_mist = stored * _BYTE_MIST + _UNITS * self._workers.epoch.gas_price
        kind = await self._finish(builder)
        async with self._workers.select(budget_mist) as worker:
            draft = self._workers.draft(worker, kind, budget_mist)
            simulated = await simulate_transaction(self._chain.client.connection, draft)
            if isinstance(simulated.effects.status, ExecutionFailure):
                reason = str(simulated.effects.status.error)
                _log.warning("trigger_refused", schedule=str(schedule.id), error=reason)
                return None
            triggered = self._trigger_event(simulated.events)
            if triggered is None or _paid_mist(triggered) < simulated.cost.net:
                return None
            signed = await self._workers.sign(worker, kind, budget_mist)
            executed = await self._sender.send(signed)
            worker.apply_effects(executed)
            repaid_mist = worker.repaid_mist(executed, 0)
            self._metrics.gas_mist.inc(executed.cost.net - repaid_mist)
            triggered = self._trigger_event(executed.events)
            paid_mist = _paid_mist(triggered) if triggered else 0
            _log.info("triggered", schedule=str(schedule.id), paid_mist=paid_mist)
            return triggered

    def _trigger_event(self, events: Sequence[Event]) -> ScheduleTriggered | None:
        """Return the event of a started execution among a transaction's events, or None."""
        parsed_events = (parse_event(self._chain.deployment, event) for event in events)
        return next(
            (
                parsed_event
                for parsed_event in parsed_events
                if isinstance(parsed_event, ScheduleTriggered)
            ),
            None,
        )

    async def _finish(self, builder: TransactionBuilder) -> ProgrammableTransaction:
        unresolved = builder.unresolved()
        objects = await self._chain.objects([argument.object_id for argument in unresolved])
        arguments_by_id: dict[Address, ObjectArgument] = {}
        for argument, value in zip(unresolved, objects, strict=True):
            if value is not None:
                arguments_by_id[argument.object_id] = _argument(value, mutable=argument.mutable)
        return builder.finish(arguments_by_id)


def _paid_mist(triggered: ScheduleTriggered) -> int:
    return triggered.fee_mist + triggered.storage_mist


def _argument(value: Object, *, mutable: bool) -> ObjectArgument:
    if isinstance(value.owner, Shared):
        return SharedObject(value.id, value.owner.initial_version, mutable)
    return OwnedObject(value.reference())
