"""The Leader's reads of the chain: invocations, tools and executions, batched into few requests."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.leader import Leader
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.workflows.execution import Execution
from nexus_tools.errors import NotFoundError, UnreachableError, UsageError
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.batch_reader import BatchReader
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object, Shared
from nexus_tools.sui.types.transaction import SharedObject


@dataclass(frozen=True, slots=True)
class InvocationObject:
    """An invocation, with its object argument for a transaction that closes it."""

    invocation: Invocation
    argument: SharedObject


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool, with the version of its on-chain object, which changes with each update."""

    tool: Tool
    version: int


@dataclass(frozen=True, slots=True)
class LeaderObject:
    """The current on-chain object of the leader, with its object argument for transactions."""

    leader: Leader
    argument: SharedObject


@dataclass(frozen=True, slots=True)
class ExecutionObject:
    """An execution, with its object argument for a transaction that advances it."""

    execution: Execution
    argument: SharedObject


# Requests and short outages of a node take less time.
_CUT_OFF_S = 10.0

WRONG_CHAIN_HINT = (
    "If a localnet was recreated, publish the package there, register the leader, and start the"
    " Leader again."
)
"""The hint for an operator whose node and deployment belong to different chains."""


class Chain:
    """A reader of the chain for one leader. Every method may raise `UnreachableError`.

    `rolled_back` is set when the node was rolled back to an earlier state of the chain, or when
    another node that lags responds. Data that was read earlier may then not be on the chain.
    `is_behind` is set while the node lags behind a checkpoint that this leader has seen.
    """

    def __init__(self, client: SuiClient, deployment: Deployment, leader: Address) -> None:
        self.client = client
        self.deployment = deployment
        self.leader = leader
        self._reader = BatchReader(client.objects)
        self._max_height = 0
        self.seen = 0
        self.is_behind = False
        self._unreachable_since_s: float | None = None
        self.rolled_back = asyncio.Event()

    async def check(self) -> None:
        """Raise an error if the node and the deployment belong to different chains.

        After a successful check, the client rejects responses from another chain.

        Raises:
            UsageError: `wrong_chain`.
        """
        chain_id = await self.client.chain_id()
        if chain_id != self.deployment.chain_id:
            raise UsageError(
                "wrong_chain",
                f"expected a node of chain {self.deployment.chain_id}, got chain {chain_id}",
                hint=WRONG_CHAIN_HINT,
            )
        self.client.connection.chain_id = chain_id

    async def height(self) -> int:
        """Return the number of the node's newest checkpoint. Raises `wrong_chain`."""
        return await self.client.latest_checkpoint()

    def observe(self, height: int) -> None:
        """Record a checkpoint number. `seen` is the highest number since the last rollback."""
        self.seen = max(self.seen, height)
        self._max_height = max(self._max_height, height)

    def note_reachable(self, *, is_reachable: bool) -> None:
        """Record whether the node responds."""
        if is_reachable:
            self._unreachable_since_s = None
        elif self._unreachable_since_s is None:
            self._unreachable_since_s = monotonic()

    @property
    def is_reachable(self) -> bool:
        """Whether the node responded to the last health check."""
        return self._unreachable_since_s is None

    @property
    def is_cut_off(self) -> bool:
        """Whether the node has not responded for so long that other processes should continue."""
        since_s = self._unreachable_since_s
        return since_s is not None and monotonic() - since_s > _CUT_OFF_S

    def expect(self, height: int) -> None:
        """Record a checkpoint number that another process has seen. Objects may need it."""
        self._max_height = max(self._max_height, height)

    async def lagging_height(self) -> int | None:
        """Return the number of the node's newest checkpoint if the node lags behind, or None."""
        if self.is_behind:
            height = await self.height()
            self.is_behind = height < self._max_height
            return height if self.is_behind else None
        return None

    def note_rollback(self, height: int = 0) -> None:
        """Record a rollback of the node to `height` checkpoints, or 0 if the number is unknown."""
        self.seen = height
        self.rolled_back.set()

    async def read_leader(self) -> LeaderObject:
        """Return the leader's current object.

        Raises:
            NotFoundError: `leader_unknown`.
        """
        value = await self.client.object(self.leader)
        if value is None:
            raise NotFoundError(
                "leader_unknown",
                f"leader {self.leader} does not exist",
                hint="Run `nexus-tools leader list` to list the existing leaders.",
            )
        leader = self.deployment.decode(value, Leader)
        return LeaderObject(leader, _argument(value, mutable=False))

    async def invocation_and_tool(
        self, invocation: Address, tool: Address
    ) -> tuple[InvocationObject | None, FoundTool | None]:
        """Return an invocation and a tool, with None for an object that does not exist."""
        reads = self._reader.get(invocation), self._reader.get(tool)
        invocation_object, tool_object = await asyncio.gather(*reads)
        await self._check_node_is_current((invocation_object, tool_object))
        return (
            None if invocation_object is None else self._invocation(invocation_object),
            None if tool_object is None else self._tool(tool_object),
        )

    async def objects(self, ids: Sequence[Address]) -> list[Object | None]:
        """Return the current objects in the order of `ids`, with None for missing objects."""
        objects = await asyncio.gather(*map(self._reader.get, ids))
        await self._check_node_is_current(objects)
        return list(objects)

    async def execution(self, execution: Address) -> ExecutionObject | None:
        """Return the current execution, or None if it was deleted."""
        (value,) = await self.objects([execution])
        if value is None:
            return None
        contents = self.deployment.decode(value, Execution)
        return ExecutionObject(contents, _argument(value, mutable=True))

    def _invocation(self, value: Object) -> InvocationObject:
        contents = self.deployment.decode(value, Invocation)
        return InvocationObject(contents, _argument(value, mutable=True))

    def _tool(self, value: Object) -> FoundTool:
        return FoundTool(self.deployment.decode(value, Tool), value.version)

    async def still_open(self, assignments: Sequence[Assignment]) -> list[Address]:
        """Return the invocations of these assignments that exist and are open."""
        ids = [assignment.invocation for assignment in assignments]
        objects = await self.client.objects(ids)
        return [
            invocation
            for invocation, value in zip(ids, objects, strict=True)
            if value is not None and self._closure_kind(value) is None
        ]

    async def closed(self, assignments: Sequence[Assignment]) -> dict[Address, ClosureKind]:
        """Return how each closed invocation was closed. Omit open invocations."""
        ids = [assignment.invocation for assignment in assignments]
        objects = await self.client.objects(ids)
        await self._check_node_is_current(objects)
        kinds = {
            invocation: self._closure_kind(value)
            for invocation, value in zip(ids, objects, strict=True)
        }
        return {invocation: kind for invocation, kind in kinds.items() if kind is not None}

    async def _check_node_is_current(self, values: Sequence[Object | None]) -> None:
        """Raise `node_behind` if an object is missing, possibly because the node lags."""
        if None in values and (height := await self.height()) < self._max_height:
            self.is_behind = True
            raise UnreachableError(
                "node_behind",
                f"the node lags behind: expected at least {self._max_height} checkpoints, got"
                f" {height}",
            )

    def _closure_kind(self, value: Object | None) -> ClosureKind | None:
        if value is None:
            return ClosureKind.ELSEWHERE
        state = self.deployment.decode(value, Invocation).state
        return closure_kind_of(state, self.leader)


def _argument(value: Object, *, mutable: bool) -> SharedObject:
    assert isinstance(value.owner, Shared)
    return SharedObject(value.id, value.owner.initial_version, mutable=mutable)


def closure_kind_of(state: object, leader: Address) -> ClosureKind | None:
    """Return how an invocation in this state was closed for `leader`, or None if it is open."""
    if isinstance(state, State.Requested):
        return None
    if isinstance(state, State.Expired):
        return ClosureKind.MISSED
    assert isinstance(state, State.Settled | State.Failed)
    if state.leader != leader:
        return ClosureKind.ELSEWHERE
    return ClosureKind.SETTLED if isinstance(state, State.Settled) else ClosureKind.FAILED
