"""A cache of the workflows whose executions the Leader runs. Workflows never change."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from cachetools import LRUCache

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.workflows.dag import Dag
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.registry import (
    ExecutionStep,
    GatherRegion,
    PublishedWorkflow,
    RequestRun,
    StepCommands,
    read_workflow,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object, Shared
from nexus_tools.sui.types.transaction import ObjectArgument, OwnedObject, SharedObject
from nexus_tools.workflow import Plan

_MAX_WORKFLOWS = 64


@dataclass(slots=True, eq=False)
class CachedWorkflow:
    """A workflow, with the transaction arguments of itself and of the tools needed so far."""

    published: PublishedWorkflow
    argument: OwnedObject
    commands: StepCommands
    tools: dict[Address, ObjectArgument] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """The execution plan."""
        return self.published.plan

    def tool_of(self, step: ExecutionStep) -> Address | None:
        """Return the tool to which the commands of a step refer, or None."""
        match step:
            case RequestRun(run):
                return self.commands.tool(run.vertex)
            case GatherRegion():
                return None
        return self.commands.tool(step.vertex)

    def can_add(self, step: ExecutionStep) -> bool:
        """Return whether all transaction arguments of a step are known."""
        tool = self.tool_of(step)
        return tool is None or tool in self.tools


class WorkflowCache:
    """A cache of the most recently used workflows, and of the errors of invalid workflows.

    Anyone can publish workflows. If a workflow is invalid, its `NexusError` is cached and raised
    again without another read.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._package = PackageClient(chain.client, chain.deployment)
        self._cache: LRUCache[Address, asyncio.Task[CachedWorkflow]] = LRUCache(_MAX_WORKFLOWS)

    async def of(self, dag: Address) -> CachedWorkflow:
        """Return a workflow. Raises `UnreachableError`, or a `NexusError` if it is invalid."""
        task = self._cache.get(dag)
        if task is None:
            task = self._cache[dag] = asyncio.create_task(self._read(dag))
        try:
            return await asyncio.shield(task)
        except UnreachableError:
            if self._cache.get(dag) is task:
                del self._cache[dag]
            raise

    async def cache_tools(self, workflow: CachedWorkflow, steps: Iterable[ExecutionStep]) -> None:
        """Cache the transaction arguments of the tools of these steps. Skip missing tools."""
        tools = {workflow.tool_of(step) for step in steps} - workflow.tools.keys() - {None}
        missing = [tool for tool in tools if tool is not None]
        for tool, value in zip(missing, await self._chain.objects(missing), strict=True):
            if value is not None and isinstance(value.owner, Shared):
                argument = SharedObject(tool, value.owner.initial_version, mutable=False)
                workflow.tools[tool] = argument

    async def argument(self, dag: Address) -> OwnedObject:
        """Return the transaction argument of a workflow, even if the workflow is invalid."""
        return OwnedObject((await self._object(dag)).reference())

    async def _read(self, dag: Address) -> CachedWorkflow:
        value = await self._object(dag)
        dag_object = self._chain.deployment.decode(value, Dag)
        published = await read_workflow(self._package, dag_object)
        commands = StepCommands(self._chain.deployment, dag, published.plan)
        return CachedWorkflow(published, OwnedObject(value.reference()), commands)

    async def _object(self, dag: Address) -> Object:
        (value,) = await self._chain.objects([dag])
        if value is None:
            raise NotFoundError("workflow_unknown", f"workflow {dag} does not exist")
        return value


def in_words(error: NexusError) -> str:
    """Return the on-chain failure detail for a workflow that cannot be executed."""
    return f"the workflow cannot be executed: {error.message}"
