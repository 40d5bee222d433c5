"""What a Leader reads of the chain: invocations, tools and its clock, many with one request."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import NotFoundError, UnreachableError, UsageError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.batch_reader import BatchReader
from nexus_tools.leader.chain.closure import Closed
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object, Shared
from nexus_tools.sui.types.transaction import SharedObject


@dataclass(frozen=True, slots=True)
class FoundInvocation:
    """An invocation, and how a transaction names it that closes it."""

    invocation: Invocation
    argument: SharedObject


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool with the version of its object, which changes with every update."""

    tool: Tool
    version: int


@dataclass(frozen=True, slots=True)
class FoundLeader:
    """The leader as it stands on chain, and how transactions name it."""

    leader: Leader
    argument: SharedObject


@dataclass(frozen=True, slots=True)
class FoundExecution:
    """An execution, and how a transaction names it that goes on with it."""

    execution: Execution
    argument: SharedObject


WRONG_CHAIN_HINT = (
    "a localnet that was started anew is another chain: publish the package there, register the"
    " leader, and start the Leader again"
)
"""The next step of an operator whose node has another chain than the deployment."""


class Chain:
    """The chain as one leader sees it. Every method may raise `UnreachableError`.

    `went_back` is set when the node was set back to an earlier state of the chain, or is another
    node, which is behind. What was read since may not have happened.
    """

    def __init__(self, client: SuiClient, deployment: Deployment, leader: Address) -> None:
        self.client = client
        self.deployment = deployment
        self.leader = leader
        self._reader = BatchReader(client.objects)
        self._highest = 0
        self.seen = 0
        self.went_back = asyncio.Event()

    async def check(self) -> None:
        """Raise `wrong_chain` if the deployment is of another chain than the node.

        From then on, no response of another chain is believed.
        """
        found = await self.client.chain_id()
        if found != self.deployment.chain_id:
            raise UsageError(
                "wrong_chain",
                f"the deployment is of the chain {self.deployment.chain_id}, the node of {found}",
                hint=WRONG_CHAIN_HINT,
            )
        self.client.connection.chain_id = found

    async def height(self) -> int:
        """The number of the newest checkpoint of the node. Raises `wrong_chain`."""
        return await self.client.latest_checkpoint()

    def observe(self, height: int) -> None:
        """The chain has so many checkpoints; `seen` is the most that it had since it went back."""
        self.seen = max(self.seen, height)
        self._highest = max(self._highest, height)

    def note_went_back(self, height: int = 0) -> None:
        """The node was set back: as far as is known, it has so many checkpoints now."""
        self.seen = height
        self.went_back.set()

    async def leader_itself(self) -> FoundLeader:
        """The leader as it stands now. Raises `unknown_leader`."""
        value = await self.client.object(self.leader)
        if value is None:
            raise NotFoundError(
                "unknown_leader",
                f"there is no leader {self.leader}",
                hint="`nexus-tools leader list` shows which there are",
            )
        found = self.deployment.decode(value, Leader)
        return FoundLeader(found, _argument(value, mutable=False))

    async def invocation_and_tool(
        self, invocation: Address, tool: Address
    ) -> tuple[FoundInvocation | None, FoundTool | None]:
        """An invocation, None if it was deleted, and a tool, None if there is none."""
        reads = self._reader.get(invocation), self._reader.get(tool)
        found, found_tool = await asyncio.gather(*reads)
        await self._doubt((found, found_tool))
        return (
            None if found is None else self._invocation(found),
            None if found_tool is None else self._tool(found_tool),
        )

    async def objects(self, ids: Sequence[Address]) -> list[Object | None]:
        """Objects as they are now, None for each that there is not."""
        found = await asyncio.gather(*map(self._reader.get, ids))
        await self._doubt(found)
        return list(found)

    async def execution(self, execution: Address) -> FoundExecution | None:
        """An execution as it is now, None if it was deleted."""
        (value,) = await self.objects([execution])
        if value is None:
            return None
        found = self.deployment.decode(value, Execution)
        return FoundExecution(found, _argument(value, mutable=True))

    def _invocation(self, value: Object) -> FoundInvocation:
        found = self.deployment.decode(value, Invocation)
        return FoundInvocation(found, _argument(value, mutable=True))

    def _tool(self, value: Object) -> FoundTool:
        return FoundTool(self.deployment.decode(value, Tool), value.version)

    async def still_open(self, assignments: Sequence[Assignment]) -> list[Address]:
        """Those of the invocations that are there, and open."""
        ids = [assignment.invocation for assignment in assignments]
        found = await self.client.objects(ids)
        return [
            one
            for one, value in zip(ids, found, strict=True)
            if value is not None and self._closed(value) is None
        ]

    async def closed(self, assignments: Sequence[Assignment]) -> dict[Address, Closed]:
        """How those of the invocations were closed that are."""
        ids = [assignment.invocation for assignment in assignments]
        found = await self.client.objects(ids)
        await self._doubt(found)
        closed = {one: self._closed(value) for one, value in zip(ids, found, strict=True)}
        return {one: how for one, how in closed.items() if how is not None}

    async def _doubt(self, values: Sequence[Object | None]) -> None:
        """Raise `node_behind` if what a node has not may be what it does not have yet."""
        if None in values and (height := await self.height()) < self._highest:
            raise UnreachableError(
                "node_behind",
                f"the node has {height} checkpoints, and {self._highest} were seen",
            )

    def _closed(self, value: Object | None) -> Closed | None:
        if value is None:
            return Closed.ELSEWHERE
        state = self.deployment.decode(value, Invocation).state
        return closed_of(state, self.leader)


def _argument(value: Object, *, mutable: bool) -> SharedObject:
    assert isinstance(value.owner, Shared)
    return SharedObject(value.id, value.owner.initial_version, mutable=mutable)


def closed_of(state: object, leader: Address) -> Closed | None:
    """How an invocation in this state was closed for `leader`; None while it is open."""
    if isinstance(state, State.Requested):
        return None
    if isinstance(state, State.Expired):
        return Closed.MISSED
    assert isinstance(state, State.Settled | State.Failed)
    if state.leader != leader:
        return Closed.ELSEWHERE
    return Closed.SETTLED if isinstance(state, State.Settled) else Closed.FAILED
