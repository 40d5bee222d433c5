"""Full reads of executions, which find the pending steps that no event has reported."""

from collections.abc import Iterator
from dataclasses import dataclass

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionEnded,
    ExecutionLeadersChanged,
    ExecutionStarted,
    TermsKey,
)
from nexus_tools.contracts.move_bindings.workflows.records import (
    Instance,
    InstanceRecord,
    RunRecord,
)
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import Chain, ExecutionObject
from nexus_tools.leader.chain.workflow_cache import CachedWorkflow, WorkflowCache
from nexus_tools.leader.executions.pending_steps import (
    CallDue,
    DeadlinePassed,
    InvocationClosed,
    IterationsReady,
    PendingStep,
    RegionEmptied,
    RunReady,
)
from nexus_tools.leader.intake.watcher import starting_cursor
from nexus_tools.sui.client import past_events
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, field_tag
from nexus_tools.workflow import MAX_EXECUTION_MS

# The time after its deadline in which an execution that no one ended is found.
_OVERDUE_MS = 30 * 24 * 3_600_000
_READY, _REQUESTED = 1, 2
_OPEN = 1


@dataclass(frozen=True, slots=True)
class ExecutionReading:
    """The pending steps of an execution, each with the earliest chain time at which it can run.

    `place` is the position of this leader, or None if the execution does not name this leader.
    """

    place: int | None
    pending_steps: dict[PendingStep, int]


class ExecutionReader:
    """A reader of the terms and records of executions."""

    def __init__(self, chain: Chain, workflows: WorkflowCache) -> None:
        self._chain = chain
        self._workflows = workflows

    async def assigned_executions(self) -> list[Address]:
        """Return the executions that name the leader and have not ended, according to events.

        An execution has a deadline at most 90 days after its start, so earlier events are not read.
        """
        chain = self._chain
        about = (ExecutionStarted, ExecutionLeadersChanged, ExecutionEnded)
        kinds = event_filter(chain.deployment, *about)
        executions: dict[Address, None] = {}
        after = await starting_cursor(chain.client, kinds, MAX_EXECUTION_MS + _OVERDUE_MS)
        async for record in past_events(chain.client, kinds, after):
            event = parse_event(chain.deployment, record.event)
            if isinstance(event, ExecutionStarted | ExecutionLeadersChanged):
                if chain.leader in event.leaders:
                    executions[event.execution] = None
                else:
                    executions.pop(event.execution, None)
            elif isinstance(event, ExecutionEnded):
                executions.pop(event.execution, None)
        return list(executions)

    async def read_pending(self, found: ExecutionObject) -> ExecutionReading:
        """Return all pending steps. Raises `UnreachableError`."""
        execution = found.execution
        terms = await self.terms(execution.id)
        leader_index = None
        if self._chain.leader in terms.leaders:
            leader_index = terms.leaders.index(self._chain.leader)
        pending_steps: dict[PendingStep, int] = {DeadlinePassed(): terms.deadline_ms}
        open_invocations: list[Address] = []
        regions: list[tuple[Instance, InstanceRecord]] = []
        for field in await self._chain.client.dynamic_fields(execution.progress.records.id):
            if field.value is None:
                continue
            if field.key_type == self._chain.deployment.type_of(Run):
                run, record = Run.bcs.decode(field.key), RunRecord.bcs.decode(field.value)
                if record.phase == _READY:
                    pending_steps[RunReady(run)] = record.not_before_ms
                elif record.phase == _REQUESTED:
                    open_invocations.append(record.invocation)
            elif field.key_type == self._chain.deployment.type_of(Instance):
                region = Instance.bcs.decode(field.key)
                regions.append((region, InstanceRecord.bcs.decode(field.value)))
        pending_steps |= await self._invocation_steps(open_invocations)
        pending_steps |= dict.fromkeys(await self._region_steps(execution.dag, regions), 0)
        return ExecutionReading(leader_index, pending_steps)

    async def terms(self, execution: Address) -> Terms:
        """Return the terms of an execution."""
        deployment = self._chain.deployment
        key = deployment.type_of(TermsKey)
        encoded = TYPE_TAG.encode(key), TermsKey.bcs.encode(TermsKey())
        (value,) = await self._chain.objects([dynamic_field_id(execution, *encoded)])
        assert value is not None
        terms: Terms = deployment.decode_entry(value, field_tag(key, deployment.type_of(Terms)))
        return terms

    async def run_records(self, target: ExecutionObject, runs: list[Run]) -> list[RunRecord | None]:
        """Return the records of runs, with None for a run without a record."""
        deployment, parent = self._chain.deployment, target.execution.progress.records.id
        key = deployment.type_of(Run)
        kind, encoded = field_tag(key, deployment.type_of(RunRecord)), TYPE_TAG.encode(key)
        ids = [dynamic_field_id(parent, encoded, Run.bcs.encode(run)) for run in runs]
        values = await self._chain.objects(ids)
        return [None if value is None else deployment.decode_entry(value, kind) for value in values]

    async def _invocation_steps(self, invocations: list[Address]) -> dict[PendingStep, int]:
        steps: dict[PendingStep, int] = {}
        values = await self._chain.objects(invocations)
        for invocation, value in zip(invocations, values, strict=True):
            if value is not None:
                invocation_state = self._chain.deployment.decode(value, Invocation)
                steps[InvocationClosed(invocation)] = (
                    0 if invocation_state.is_closed else invocation_state.expires_at_ms
                )
                if invocation_state.is_closable_by_anyone and not invocation_state.is_closed:
                    steps[CallDue(invocation, invocation_state.tool)] = 0
        return steps

    async def _region_steps(
        self, dag: Address, regions: list[tuple[Instance, InstanceRecord]]
    ) -> list[PendingStep]:
        """Return the pending steps of open regions, or nothing if the workflow is unreadable."""
        try:
            workflow = await self._workflows.of(dag) if regions else None
        except UnreachableError:
            raise
        except NexusError:
            return []
        pending_steps: list[PendingStep] = []
        for region, record in regions:
            if workflow is not None and record.phase == _OPEN:
                pending_steps += _steps_in_region(workflow, region, record)
        return pending_steps


def _steps_in_region(
    workflow: CachedWorkflow, region: Instance, record: InstanceRecord
) -> Iterator[PendingStep]:
    if record.live == 0:
        yield RegionEmptied(region)
    names = list(workflow.plan.vertices)
    heads = workflow.plan.blocks[region.block].cursors
    for name, cursor in zip(heads, record.cursors, strict=True):
        parallel = workflow.plan.vertices[name].vertex.parallel
        if cursor.next < cursor.count and cursor.in_flight < parallel:
            yield IterationsReady(Run(names.index(name), region.path))
