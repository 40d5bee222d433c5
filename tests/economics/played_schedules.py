"""Schedules on chain that are compared with the rules, which must pay the same."""

from types import SimpleNamespace

from nexus_tools.contracts import PackageClient, parse_event
from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows import schedule as calls
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    Schedule,
    ScheduleCreated,
    ScheduleTriggered,
)
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import LeaderRegistry, StepPredictor
from nexus_tools.registry.schedules.creation import creation, make_order
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.workflow import DEFAULT_GROUP
from tests.economics.played_execution import TIMEOUT_MS, PlayedExecution

IDLE_UNITS = 20
"""The gas units of a trigger that starts nothing, in a transaction with others."""
COLLECT_UNITS = 40
"""The gas units of a collected execution beyond the first one, which the fee covers."""


class PlayedKeeping:
    """The schedules of a story. Payments are compared after each transaction of a keeper."""

    def __init__(self, network, workflow, story, rules):
        self.network, self.workflow, self.story, self.rules = network, workflow, story, rules
        self.stage, self.deployment = network.stage, network.stage.deployment
        self.ids, self.executions = [], []

    async def begin(self):
        """Create the schedules as their owner."""
        settings = await LeaderRegistry(self.stage.owner, self.deployment).settings()
        for schedule in self.rules.schedules:
            order = self._order(schedule.order, settings)
            builder = creation(self.deployment, self.workflow, order, schedule.order.funds_mist)
            sent = await PackageClient(self.stage.owner, self.deployment).send(builder)
            found = [parse_event(self.deployment, event) for event in sent.events]
            [created] = [item for item in found if isinstance(item, ScheduleCreated)]
            self.ids.append(created.schedule)
            self.executions.append([])

    def _order(self, order, settings):
        numbers = {name: number for number, name in enumerate(self.workflow.plan.vertices)}
        terms = SimpleNamespace(
            settings=settings,
            group=list(self.workflow.plan.groups).index(DEFAULT_GROUP),
            values={numbers[name]: ports for name, ports in order.values.items()},
            leaders=self._leaders(order),
            max_prices_mist=[10**9] * len(self.workflow.tools),
            max_timeout_ms=TIMEOUT_MS,
            max_outcome_bytes=order.terms["max_outcome_bytes"],
        )
        return make_order(
            terms,
            Timing(self._plan(order.timing), None),
            max_steps=order.terms["max_steps"],
            duration_ms=order.terms["duration_ms"],
            funds_per_execution_mist=order.funds_per_execution_mist,
            keeper_fee_mist=order.keeper_fee_mist,
            overlaps=order.overlaps,
            max_failures=order.max_failures,
            max_executions=order.max_executions,
        )

    def _plan(self, timing):
        if timing.is_on_event:
            return Plan.OnEvent("0x2::coin::Minted", timing.pause_ms, timing.max_per_day)
        if timing.interval_ms is None:
            return Plan.At(timing.times)
        return Plan.Every(timing.interval_ms, timing.times[0], None)

    def _leaders(self, order):
        return (self.stage.leader, self.network.backup_leader)[: order.leaders]

    async def pass_time(self, milliseconds):
        """Let time pass."""
        self.network.clock(milliseconds)

    async def trigger(self, numbers, place, cursor):
        """Collect ended executions and trigger schedules, in one transaction of one keeper."""
        builder, known = TransactionBuilder(), {number: self._ended(number) for number in numbers}
        for number in numbers:
            self._add_collects(builder, known.pop(number, ()))
            self._add_trigger(builder, number, place, cursor)
        keeper = self._keeper(place)
        before = await keeper.balance(keeper.address)
        sent = await PackageClient(keeper, self.deployment).send(builder)
        paid_mist = await keeper.balance(keeper.address) - before + sent.cost.net
        paid = self.rules.paid[-1]
        assert paid_mist == paid.mist, f"{paid_mist - paid.mist}, {paid}"
        # Law 1: a keeper that triggers a due schedule earns at least the owner's keeper fee.
        ended = len(self.rules.ended)
        allowed_units = IDLE_UNITS * (paid.others - ended) + COLLECT_UNITS * max(0, ended - 1)
        allowed_mist = allowed_units * self.network.price
        lost_mist = sent.cost.net - paid.mist + paid.earned_mist if paid.begun else 0
        assert lost_mist <= allowed_mist, f"{lost_mist}, {paid}, {sent.cost}"
        for event in (parse_event(self.deployment, entry) for entry in sent.events):
            if isinstance(event, ScheduleTriggered):
                self._add_execution(self.ids.index(event.schedule), event.execution)

    def _keeper(self, place):
        if place >= self.story.leaders:
            return self.network.keeper
        return (self.stage.worker, self.network.backup)[place]

    def _ended(self, number):
        return [item for item in self.rules.ended if item[0] == number]

    def _add_collects(self, builder, ended):
        package = self.deployment.workflows
        for number, place, expires in ended:
            execution = self.executions[number][place]
            if expires:
                executions.expire(builder, package, execution.id)
            calls.collect(builder, package, self.ids[number], execution.id)

    def _add_trigger(self, builder, number, place, cursor):
        order = self.rules.schedules[number].order
        package, registry = self.deployment.workflows, self.deployment.leader_registry
        target = builder, package, self.ids[number], registry, self.workflow.id
        if place >= self.story.leaders:
            calls.trigger_by_anyone(*target, self._leaders(order)[0])
        elif order.timing.is_on_event:
            calls.trigger_by_event(*target, self._leaders(order)[place], *cursor)
        else:
            calls.trigger(*target, self._leaders(order)[place])

    def _add_execution(self, number, execution_id):
        place = len(self.executions[number])
        rules = self.rules.execution(number, place)
        execution = PlayedExecution(self.network, self.workflow, self.story.story, rules)
        execution.id, foresight = execution_id, StepPredictor(self.workflow.plan)
        foresight.add_start(DEFAULT_GROUP)
        execution.steps = foresight.steps()
        self.executions[number].append(execution)

    async def collect(self, _number):
        """Collect everything possible from a schedule as its owner."""
        builder = TransactionBuilder()
        self._add_collects(builder, self.rules.ended)
        if builder.commands:
            await PackageClient(self.stage.owner, self.deployment).send(builder)

    async def change(self, number, verb):
        """Let the owner pause, resume, reset or cancel a schedule."""
        builder = TransactionBuilder()
        getattr(calls, verb)(builder, self.deployment.workflows, self.ids[number])
        await PackageClient(self.stage.owner, self.deployment).send(builder)

    def execution(self, number, place):
        """Return an execution."""
        return self.executions[number][place]

    async def check_end(self):
        """Compare funds and executions with the rules."""
        client = PackageClient(self.stage.owner, self.deployment)
        for number, schedule in enumerate(self.rules.schedules):
            found = await client.read(self.ids[number], Schedule)
            assert found.funds == schedule.funds_mist
            assert (found.started, found.running) == (schedule.begun, schedule.running)
            assert (found.failures, found.is_paused) == (schedule.failures, schedule.is_paused)
            for execution in self.executions[number]:
                await execution.check_end()
