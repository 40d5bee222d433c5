"""The workflows whose executions a Leader carries: read once, for they never change."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.workflows.dag import Dag
from nexus_tools.errors import NexusError, NotFoundError, UnreachableError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.registry import (
    ExecutionStep,
    Gather,
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
class CarriedWorkflow:
    """A workflow with how transactions name it and its tools, as far as they were needed."""

    published: PublishedWorkflow
    argument: OwnedObject
    commands: StepCommands
    tools: dict[Address, ObjectArgument] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """What is executed."""
        return self.published.plan

    def tool_of(self, step: ExecutionStep) -> Address | None:
        """The tool that a step names."""
        match step:
            case RequestRun(run):
                return self.commands.tool(run.vertex)
            case Gather():
                return None
        return self.commands.tool(step.vertex)

    def can_add(self, step: ExecutionStep) -> bool:
        """Whether all that a step names is known."""
        tool = self.tool_of(step)
        return tool is None or tool in self.tools


class CarriedWorkflows:
    """Keeps those that were needed last, and what is wrong with the others.

    Anybody publishes workflows: one that cannot be read is told as a `NexusError`, again and again,
    without being read again.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._package = PackageClient(chain.client, chain.deployment)
        self._kept: OrderedDict[Address, asyncio.Task[CarriedWorkflow]] = OrderedDict()

    async def of(self, dag: Address) -> CarriedWorkflow:
        """The workflow. Raises what is wrong with it, or `UnreachableError`."""
        reading = self._kept.get(dag)
        if reading is None:
            reading = self._kept[dag] = asyncio.create_task(self._read(dag))
            if len(self._kept) > _MAX_WORKFLOWS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(dag)
        try:
            return await asyncio.shield(reading)
        except UnreachableError:
            if self._kept.get(dag) is reading:
                del self._kept[dag]
            raise

    async def learn_tools(self, workflow: CarriedWorkflow, steps: Iterable[ExecutionStep]) -> None:
        """Know how transactions name the tools of steps, where they are there."""
        named = {workflow.tool_of(step) for step in steps} - workflow.tools.keys() - {None}
        missing = [tool for tool in named if tool is not None]
        for tool, value in zip(missing, await self._chain.objects(missing), strict=True):
            if value is not None and isinstance(value.owner, Shared):
                argument = SharedObject(tool, value.owner.initial_version, mutable=False)
                workflow.tools[tool] = argument

    async def argument(self, dag: Address) -> OwnedObject:
        """How a transaction names a workflow, whatever is wrong with it."""
        return OwnedObject((await self._object(dag)).reference())

    async def _read(self, dag: Address) -> CarriedWorkflow:
        value = await self._object(dag)
        found = self._chain.deployment.decode(value, Dag)
        published = await read_workflow(self._package, found)
        commands = StepCommands(self._chain.deployment, dag, published.plan)
        return CarriedWorkflow(published, OwnedObject(value.reference()), commands)

    async def _object(self, dag: Address) -> Object:
        (value,) = await self._chain.objects([dag])
        if value is None:
            raise NotFoundError("workflow_unknown", f"there is no workflow {dag}")
        return value


def in_words(error: NexusError) -> str:
    """What is wrong with a workflow, for a detail on chain."""
    return f"the workflow cannot be carried: {error.message}"
