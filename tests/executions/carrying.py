"""An execution on chain, run step by step beside the pure semantics of its workflow.

Each command is a transaction of its own, so that its effects, its payment and its storage can be
observed separately.
"""

import random
from dataclasses import dataclass

from nexus_tools.contracts import PackageClient, make_ports, name_id, parse_event, ports_of, tool_id
from nexus_tools.contracts.move_bindings import invocation as closing
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.workflows import dag as dag_calls
from nexus_tools.contracts.move_bindings.workflows import execution as calls
from nexus_tools.contracts.move_bindings.workflows.execution import (
    Execution,
    ExecutionAdvanced,
    ExecutionEnded,
    ExecutionStarted,
    RegionGathered,
    RunRefused,
)
from nexus_tools.registry.executions.records import ExecutionRecords
from nexus_tools.registry.workflows.plan_gas import PlanSizes
from nexus_tools.registry.workflows.publication import Progress, Publication, batches
from nexus_tools.registry.workflows.published_workflow import PublishedWorkflow
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.type_tag import SUI
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import (
    DEFAULT_GROUP,
    ExecutionCancelled,
    ExecutionTimedOut,
    GroupStarted,
    Run,
    RunClosed,
    RunFailed,
    RunRequested,
    RunSettled,
    Status,
    create_plan,
)
from nexus_tools.workflow import Execution as Semantics
from tests.workflow.naive_interpreter import FAILED

FUNDS_MIST = 30 * 10**9
OUTCOME_BYTES = 12_000
HOUR_MS = 3_600_000
WINDOW_MS = 21_000
"""Longer than a window of 5 + 15 s."""


@dataclass
class Paid:
    """The payment of a command to its sender, and Sui's charge for its storage, in MIST."""

    command: str
    paid_mist: int
    stored_mist: int


class Dispatcher:
    """A worker of a leader that publishes workflows and runs their executions."""

    def __init__(self, chain, owner, worker, leader, settings):
        self.net, self.deployment = chain.net, chain.deployment
        self.owner = PackageClient(owner, chain.deployment)
        self.worker = PackageClient(worker, chain.deployment)
        self.leader, self.settings = leader, settings
        self._published = 0

    @property
    def package(self):
        return self.deployment.workflows

    async def publish(self, document):
        """Publish a document without checking its ports, and return the workflow."""
        self._published += 1
        fqn = ToolFqn.parse(f"xyz.example.flow-{self._published}@1")
        publication = Publication.of(document, fqn, "")
        [first, *others] = batches(publication.steps(Progress()), self.deployment)
        assert not others
        builder = TransactionBuilder()
        dag = publication.draft(builder, self.deployment, has_name=False)
        for step in first:
            step(builder, self.deployment, dag)
        dag_calls.publish(builder, self.package, dag)
        sent = await self.owner.send(builder)
        published = self.owner.emitted(sent, dag_calls.DagPublished)
        plan, registry = create_plan(document), self.deployment.tool_registry
        tools = tuple(tool_id(registry, ToolFqn.parse(tool)) for tool in publication.encoded.tools)
        name = name_id(registry, fqn.unversioned)
        sizes = PlanSizes(0, (0,), (0,))  # small enough for fees to cover
        return PublishedWorkflow(published.dag, fqn, name, "", document, plan, tools, sizes)

    async def begin(self, workflow, **terms):
        """Start an execution without requesting a run."""
        execution = Carried(self, workflow)
        await execution.begin(**terms)
        return execution


class Carried:
    """One execution, on chain and in `semantics`; each command compares both."""

    def __init__(self, carrier, workflow):
        self.carrier, self.workflow, self.plan = carrier, workflow, workflow.plan
        self.semantics = Semantics(workflow.plan)
        self.names = list(workflow.plan.vertices)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.invocations, self.all_invocations = {}, []
        self.overdue = set()
        self.ended = None
        self.paid = []
        self.weighs = False
        self._sizes = {}

    # --- Commands

    async def begin(
        self,
        *,
        funds_mist=FUNDS_MIST,
        max_price_mist=0,
        max_steps=10_000,
        duration_ms=HOUR_MS,
        max_outcome_bytes=OUTCOME_BYTES,
    ):
        builder, package = TransactionBuilder(), self.carrier.package
        execution = calls.start(
            builder,
            package,
            self.carrier.deployment.leader_registry,
            self.carrier.settings.revision,
            self.workflow.id,
            list(self.plan.groups).index(DEFAULT_GROUP),
            self.carrier.leader,
            [max_price_mist] * len(self.workflow.tools),
            HOUR_MS,
            max_outcome_bytes,
            max_steps,
            duration_ms,
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        for name, vertex in self.plan.vertices.items():
            ports = {port: "given" for port in vertex.entries if port not in vertex.constants}
            if ports:
                port_values = make_ports(builder, self.carrier.deployment.package, ports_of(ports))
                calls.add_entry_values(builder, package, execution, self.numbers[name], port_values)
        calls.share(builder, package, execution)
        await self.has_begun(await self.carrier.owner.send(builder))

    async def has_begun(self, sent):
        """Record the transaction that started it: the owner's, or a keeper's for a schedule."""
        begun = self.carrier.owner.emitted(sent, ExecutionStarted)
        self.id, self.deadline_ms = begun.execution, begun.deadline_ms
        self._look_for_end(sent)
        if self.weighs:
            await self._grown(sent)
        change = self.semantics.apply(GroupStarted(DEFAULT_GROUP))
        self._compare([begun.change], [change])

    async def request(self, run, limit=1):
        """Request a run, or the iterations of its cursor up to it; return the pending runs."""
        head = self.semantics._records.cursor_of(run)
        is_iteration = head is not None and run not in self.semantics._records.runs
        builder = TransactionBuilder()
        named = self.id, self.workflow.id, self._tool(run), self.carrier.leader
        number = self.numbers[run.vertex]
        if is_iteration:
            path = head[0][1]
            calls.request_iterations(builder, self.carrier.package, *named, number, path, limit)
        else:
            calls.request(builder, self.carrier.package, *named, number, run.path)
        sent, events = await self._sent(builder, "request")
        requested = [event for event in events if isinstance(event, InvocationRequested)]
        refused = [event for event in events if isinstance(event, RunRefused)]
        taken = [self._run(event.attempt.run) for event in requested]
        taken += [self._run(event.run) for event in refused]
        for requested_run in sorted(taken):
            assert requested_run in self.semantics.ready(), requested_run
            self.semantics.apply(RunRequested(requested_run))
        for event in requested:
            requested_run = self._run(event.attempt.run)
            assert event.attempt.number == self.semantics.attempt(requested_run)
            self.invocations[requested_run] = event.invocation
            self.all_invocations.append(event.invocation)
        for event in refused:
            outcome = RunFailed(event.reason, is_refusal=True)
            change = self.semantics.apply(RunClosed(self._run(event.run), outcome))
            await self._gathered([event.change], [change])
        self._look_for_end(sent)
        return taken

    async def close(self, run, variant, ports):
        """Settle or fail the invocation of a run, advance, and return the outcome."""
        package, invocation = self.carrier.deployment.package, self.invocations.pop(run)
        outcome = RunSettled(
            variant,
            {name: len(v) if isinstance(v, list) else None for name, v in ports.items()},
        )
        builder = TransactionBuilder()
        if run in self.overdue:
            outcome = RunFailed("expired")
        elif variant == FAILED:
            outcome = RunFailed("unreachable", "x")
            closing.fail(builder, package, invocation, self.carrier.leader, "unreachable", "x")
        else:
            written = make_ports(builder, package, ports_of(ports))
            closing.settle(builder, package, invocation, self.carrier.leader, variant, written)
        if run not in self.overdue:
            await self._sent(builder, "close")
        self.overdue.discard(run)
        await self.advance(run, invocation, outcome)

    async def advance(self, run, invocation, outcome):
        builder = TransactionBuilder()
        calls.advance(builder, self.carrier.package, self.id, self.workflow.id, invocation)
        sent, events = await self._sent(builder, "advance")
        [advanced] = [event for event in events if isinstance(event, ExecutionAdvanced)]
        assert self._run(advanced.run) == run
        change = self.semantics.apply(RunClosed(run, outcome))
        await self._gathered([advanced.change], [change])
        self._look_for_end(sent)

    async def cancel(self):
        builder = TransactionBuilder()
        calls.cancel(builder, self.carrier.package, self.id)
        self._look_for_end(await self.carrier.owner.send(builder))
        self.semantics.apply(ExecutionCancelled())

    async def time_out(self):
        """Pass the deadline of the execution and of all its pending invocations."""
        self.carrier.net.advance_clock(HOUR_MS + 1_000)
        self.overdue |= set(self.invocations)
        builder = TransactionBuilder()
        calls.expire(builder, self.carrier.package, self.id)
        self._look_for_end(await self.carrier.worker.send(builder))
        self.semantics.apply(ExecutionTimedOut())

    def pass_windows(self):
        """Pass the time until which the pending invocations can be closed."""
        self.carrier.net.advance_clock(WINDOW_MS)
        self.overdue |= set(self.invocations)

    # --- Whole executions

    async def carry(self, outcome_of, seed=0, disturbed=False):
        """Run steps in random order until none is left."""
        chance = random.Random(f"order {seed}")
        while self.semantics.status is Status.RUNNING:
            await self.go_on(outcome_of, chance, disturbed)
            if disturbed and chance.random() < 0.1:
                await self.compare_records()
        await self.compare_records()
        assert self.ended is not None
        assert self.ended.status == self.semantics.status.value

    async def go_on(self, outcome_of, chance, disturbed=False):
        """Run one possible step; return False if the funds are insufficient for it."""
        ready, under_way = list(self.semantics.ready()), list(self.semantics.under_way())
        if disturbed and chance.random() < 0.01:
            await chance.choice((self.cancel, self.time_out))()
        elif disturbed and under_way and chance.random() < 0.02:
            self.pass_windows()
        elif ready and (not under_way or chance.random() < 0.5):
            return bool(await self.request(chance.choice(ready), chance.randint(1, 3)))
        else:
            run = chance.choice(under_way)
            await self.close(run, *outcome_of(run.vertex, run.path, self.semantics.attempt(run)))
        return True

    # --- Comparisons

    async def compare_records(self):
        execution = await self.carrier.worker.read(self.id, Execution)
        result = ExecutionRecords(self.carrier.worker, execution, self.workflow)
        await result.read_all()
        ours = self.semantics._records
        is_ending = self.semantics._ending is not None
        assert set(result.records.runs) == set(ours.runs)
        for run, record in result.records.runs.items():
            expected = ours.runs[run]
            assert record.phase == expected.phase, run
            assert record.attempt == expected.attempt, run
            assert _values(record) == _values(expected), run
        assert set(result.records.instances) == set(ours.instances)
        for instance, record in result.records.instances.items():
            expected = ours.instances[instance]
            assert _values(record) == _values(expected), instance
            assert record.is_open == expected.is_open, instance
            if not is_ending:
                assert record.live == expected.live, instance
                assert _counted(record.cursors) == _counted(expected.cursors), instance

    async def _gathered(self, changes, expected):
        """Gather each emptied region, which the semantics does immediately."""
        todo = [region for change in changes for region in change.finished_regions]
        ended = None
        while todo:
            region = todo.pop(0)
            builder = TransactionBuilder()
            package = self.carrier.package
            calls.gather(
                builder, package, self.id, self.workflow.id, region.block, list(region.path)
            )
            sent, events = await self._sent(builder, "gather")
            for event in events:
                if isinstance(event, RegionGathered):
                    changes.append(event.change)
                    todo += event.change.finished_regions
            ended = sent
        if ended is not None:
            self._look_for_end(ended)
        self._compare(changes, expected)

    def _compare(self, changes, expected):
        ready = {self._run(run) for change in changes for run in change.ready}
        heads = {self._run(iteration) for change in changes for iteration in change.iterations}
        failures = [
            (self._run(failure.run), failure.reason)
            for change in changes
            for failure in change.failures
        ]
        expected_failures = [
            (failure.run, failure.reason) for change in expected for failure in change.failures
        ]
        assert failures == expected_failures
        if self.semantics._ending is not None:
            return
        records = self.semantics._records
        single = set()
        for run in (run for change in expected for run in change.ready):
            cursor = records.cursor_of(run)
            if cursor is not None and run not in records.runs:
                (_, path), _ = cursor
                assert Run(run.vertex, path) in heads, run
            else:
                single.add(run)
        assert ready == single

    def _look_for_end(self, sent):
        for event in sent.events:
            parsed = parse_event(self.carrier.deployment, event)
            if isinstance(parsed, ExecutionEnded):
                assert self.ended is None
                self.ended = parsed

    def _run(self, run):
        return Run(self.names[run.vertex], tuple(run.path))

    def _tool(self, run):
        fqn = ToolFqn.parse(self.plan.vertices[run.vertex].vertex.fqn)
        return tool_id(self.carrier.deployment.tool_registry, fqn)

    # --- Payments

    async def _sent(self, builder, command):
        sent = await self.carrier.worker.send(builder)
        events = [parse_event(self.carrier.deployment, event) for event in sent.events]
        if self.weighs:
            worker = self.carrier.worker.client.address
            paid = sent.effects.address_balance_change(worker, SUI)
            fees = sum(event.fee_mist for event in events if hasattr(event, "fee_mist"))
            self.paid.append(Paid(command, paid - fees, await self._grown(sent)))
        return sent, events

    async def _grown(self, sent):
        """Return Sui's charge for new or larger invocations and records."""
        changed = [place for place, _ in sent.effects.changed_objects]
        objects = await self.carrier.worker.client.objects(changed)
        grown = 0
        for place, value in zip(changed, objects, strict=True):
            if value is not None and place != self.id and self._is_ours(value):
                grown += value.storage_rebate - self._sizes.get(place, 0)
                self._sizes[place] = value.storage_rebate
        return grown

    def _is_ours(self, value):
        """Return whether a value has a type of the packages, or is a field of such a type."""
        kind = str(getattr(value.data, "type", ""))
        packages = (package.id for _, package in self.carrier.deployment.packages)
        return any(str(package).removeprefix("0x") in kind for package in packages)


def _values(record):
    """Return the locations of values; the length of a list matters where it starts iterations."""
    return {
        key: (value.edge, value.value, value.length if value.edge.element is not None else 0)
        for key, value in record.brought.items()
    }


def _counted(cursors):
    return {head: cursor for head, cursor in cursors.items() if cursor.count}
