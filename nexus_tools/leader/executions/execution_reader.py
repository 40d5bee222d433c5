"""Reads an execution whole: what is left to do in it, whatever events told or did not tell."""

from collections.abc import Iterator
from dataclasses import dataclass

from nexus_tools.contracts import event_filter, parse_event
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionBegun,
    ExecutionEnded,
    ExecutionLeadersChanged,
    TermsKey,
)
from nexus_tools.contracts.move_bindings.workflows.records import (
    Instance,
    InstanceRecord,
    RunRecord,
)
from nexus_tools.contracts.move_bindings.workflows.terms import Terms
from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import Chain, FoundExecution
from nexus_tools.leader.chain.workflow_cache import CarriedWorkflow, CarriedWorkflows
from nexus_tools.leader.executions.pending_steps import (
    CallDue,
    DeadlinePassed,
    InvocationClosed,
    IterationsReady,
    RegionEmptied,
    RunReady,
    Todo,
)
from nexus_tools.sui.client import past_events
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import TYPE_TAG, field_tag

_READY, _UNDER_WAY = 1, 2
_OPEN = 1


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be done and from when on, by the chain's time; `place` is None for strangers."""

    place: int | None
    todos: dict[Todo, int]


class ExecutionReader:
    """Reads terms and records of executions."""

    def __init__(self, chain: Chain, workflows: CarriedWorkflows) -> None:
        self._chain = chain
        self._workflows = workflows

    async def named(self) -> list[Address]:
        """The executions that name the leader, as far as events tell, and have not ended."""
        chain = self._chain
        about = (ExecutionBegun, ExecutionLeadersChanged, ExecutionEnded)
        kinds = event_filter(chain.deployment, *about)
        named: dict[Address, None] = {}
        async for record in past_events(chain.client, kinds):
            event = parse_event(chain.deployment, record.event)
            if isinstance(event, ExecutionBegun | ExecutionLeadersChanged):
                if chain.leader in event.leaders:
                    named[event.execution] = None
                else:
                    named.pop(event.execution, None)
            elif isinstance(event, ExecutionEnded):
                named.pop(event.execution, None)
        return list(named)

    async def look(self, found: FoundExecution) -> Look:
        """All that is left to do. Raises `UnreachableError`."""
        execution = found.execution
        terms = await self.terms(execution.id)
        place = None
        if self._chain.leader in terms.leaders:
            place = terms.leaders.index(self._chain.leader)
        todos: dict[Todo, int] = {DeadlinePassed(): terms.deadline_ms}
        awaited: list[Address] = []
        regions: list[tuple[Instance, InstanceRecord]] = []
        for field in await self._chain.client.dynamic_fields(execution.walks.records.id):
            if field.value is None:
                continue
            if field.key_type == self._chain.deployment.type_of(Run):
                run, record = Run.bcs.decode(field.key), RunRecord.bcs.decode(field.value)
                if record.phase == _READY:
                    todos[RunReady(run)] = record.not_before_ms
                elif record.phase == _UNDER_WAY:
                    awaited.append(record.invocation)
            elif field.key_type == self._chain.deployment.type_of(Instance):
                region = Instance.bcs.decode(field.key)
                regions.append((region, InstanceRecord.bcs.decode(field.value)))
        todos |= await self._awaited(awaited)
        todos |= dict.fromkeys(await self._in_regions(execution.dag, regions), 0)
        return Look(place, todos)

    async def terms(self, execution: Address) -> Terms:
        """The terms of an execution."""
        deployment = self._chain.deployment
        key = deployment.type_of(TermsKey)
        encoded = TYPE_TAG.encode(key), TermsKey.bcs.encode(TermsKey())
        (value,) = await self._chain.objects([dynamic_field_id(execution, *encoded)])
        assert value is not None
        terms: Terms = deployment.decode_entry(value, field_tag(key, deployment.type_of(Terms)))
        return terms

    async def run_records(self, found: FoundExecution, runs: list[Run]) -> list[RunRecord | None]:
        """The records of runs, None for each that has none."""
        deployment, parent = self._chain.deployment, found.execution.walks.records.id
        key = deployment.type_of(Run)
        kind, encoded = field_tag(key, deployment.type_of(RunRecord)), TYPE_TAG.encode(key)
        ids = [dynamic_field_id(parent, encoded, Run.bcs.encode(run)) for run in runs]
        values = await self._chain.objects(ids)
        return [None if value is None else deployment.decode_entry(value, kind) for value in values]

    async def _awaited(self, invocations: list[Address]) -> dict[Todo, int]:
        found: dict[Todo, int] = {}
        values = await self._chain.objects(invocations)
        for invocation, value in zip(invocations, values, strict=True):
            if value is not None:
                state = self._chain.deployment.decode(value, Invocation)
                found[InvocationClosed(invocation)] = 0 if state.is_closed else state.expires_at_ms
                if state.is_for_anyone and not state.is_closed:
                    found[CallDue(invocation, state.tool)] = 0
        return found

    async def _in_regions(
        self, dag: Address, regions: list[tuple[Instance, InstanceRecord]]
    ) -> list[Todo]:
        """What is to be done in regions that are open; of a workflow nobody can read, nothing."""
        try:
            workflow = await self._workflows.of(dag) if regions else None
        except UnreachableError:
            raise
        except NexusError:
            return []
        todos: list[Todo] = []
        for region, record in regions:
            if workflow is not None and record.phase == _OPEN:
                todos += _left_in(workflow, region, record)
        return todos


def _left_in(workflow: CarriedWorkflow, region: Instance, record: InstanceRecord) -> Iterator[Todo]:
    if record.live == 0:
        yield RegionEmptied(region)
    names = list(workflow.plan.vertices)
    heads = workflow.plan.blocks[region.block].cursors
    for name, cursor in zip(heads, record.cursors, strict=True):
        parallel = workflow.plan.vertices[name].vertex.parallel
        if cursor.next < cursor.count and cursor.outstanding < parallel:
            yield IterationsReady(Run(names.index(name), region.path))
