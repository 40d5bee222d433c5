"""What a Leader reads of the chain: invocations, tools and its clock, many with one request."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.client import SuiClient
from nexus_tools.errors import NotFoundError, UsageError
from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.batch_reader import BatchReader
from nexus_tools.leader.journal_entry import Ending
from nexus_tools.registry import Deployment
from nexus_tools.registry.objects import (
    INVOCATION,
    TOOL,
    Expired,
    Failed,
    Invocation,
    Requested,
    Settled,
    Tool,
    decode,
)
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object, Shared
from nexus_tools.sui.transaction import SharedObject


@dataclass(frozen=True, slots=True)
class FoundInvocation:
    """An invocation with the version at which it was shared."""

    invocation: Invocation
    initial_version: int


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool with the version of its object, which changes with every update."""

    tool: Tool
    version: int


class Chain:
    """The chain as one leader sees it. Every method may raise `UnreachableError`."""

    def __init__(self, client: SuiClient, deployment: Deployment, leader: Address) -> None:
        self.client = client
        self.deployment = deployment
        self.leader = leader
        self._reader = BatchReader(client.objects)
        self._invocation_type = deployment.type("invocation", "Invocation")
        self._tool_type = deployment.type("tool", "Tool")

    async def check(self) -> None:
        """Raise `wrong_chain` if the deployment is of another chain than the node."""
        found = await self.client.chain_id()
        if found != self.deployment.chain_id:
            raise UsageError(
                "wrong_chain",
                f"the deployment is of the chain {self.deployment.chain_id}, the node of {found}",
                hint="a localnet that was reset is another chain: deploy anew",
            )

    async def leader_registry(self) -> SharedObject:
        """The registry of leaders, as transactions read it. Raises `leader_registry_unknown`."""
        value = await self.client.object(self.deployment.leader_registry)
        if value is None or not isinstance(value.owner, Shared):
            raise NotFoundError(
                "leader_registry_unknown",
                f"there is no leader registry {self.deployment.leader_registry}",
                hint="check the deployment and the network",
            )
        return SharedObject(value.id, value.owner.initial_version, mutable=False)

    async def invocation(self, invocation: Address) -> FoundInvocation | None:
        """An invocation; None if it was deleted."""
        value = await self._reader.get(invocation)
        if value is None:
            return None
        assert isinstance(value.owner, Shared)
        return FoundInvocation(
            decode(value, self._invocation_type, INVOCATION), value.owner.initial_version
        )

    async def tool(self, tool: Address) -> FoundTool | None:
        """A tool; None if there is none."""
        value = await self._reader.get(tool)
        return FoundTool(decode(value, self._tool_type, TOOL), value.version) if value else None

    async def endings(self, assignments: Sequence[Assignment]) -> dict[Address, Ending]:
        """How those of the invocations ended that are closed."""
        ids = [assignment.invocation for assignment in assignments]
        found = await self.client.objects(ids)
        endings = {one: self._ending(value) for one, value in zip(ids, found, strict=True)}
        return {one: ending for one, ending in endings.items() if ending is not None}

    def _ending(self, value: Object | None) -> Ending | None:
        if value is None:
            return Ending.ELSEWHERE
        state = decode(value, self._invocation_type, INVOCATION).state
        return ending_of(state, self.leader)


def ending_of(state: object, leader: Address) -> Ending | None:
    """How an invocation in this state has ended for `leader`; None while it is open."""
    if isinstance(state, Requested):
        return None
    if isinstance(state, Expired):
        return Ending.MISSED
    assert isinstance(state, Settled | Failed)
    if state.leader != leader:
        return Ending.ELSEWHERE
    return Ending.SETTLED if isinstance(state, Settled) else Ending.FAILED
