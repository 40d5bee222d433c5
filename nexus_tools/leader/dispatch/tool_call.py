"""The tool call of an invocation, made from what stands on chain; or the reason against it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nexus_tools.contracts import RemotePlace, ports_of
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import ValidationError
from nexus_tools.http.address_guard import AddressGuard, AddressRefused
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.leader.dispatch.interfaces import Interface, Interfaces
from nexus_tools.leader.dispatch.meta_check import MetaCheck
from nexus_tools.leader.dispatch.remote_values import RemoteValues, parsed
from nexus_tools.leader.dispatch.response_classifier import Declined, failure
from nexus_tools.leader.dispatch.tool_health import ToolLanes
from nexus_tools.leader.dispatch.validation_turns import CheckTurns
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Failure,
    FailureReason,
    InterfaceValidator,
    ToolDefinition,
    canonical_json,
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The HTTP request of one invocation; `deadline` is on the clock of the event loop."""

    invocation: Address
    tool: Address
    fqn: str
    url: str
    body: bytes
    timeout_ms: int
    deadline: float
    max_outcome_bytes: int
    keys: tuple[bytes, ...]
    """The public keys that the tool has on chain, which sign its responses."""
    signers: tuple[bytes, ...]
    """Those of which one has to sign the answer; with none, nobody has to."""
    validator: InterfaceValidator
    run: str = ""
    """What the header of a step of a workflow says."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The inputs of a run, and its name: `execution/vertex/path/attempt`."""

    name: str
    ports: Ports


class _NoCallError(Exception):
    """The tool is not called, for a reason."""

    def __init__(self, reason: FailureReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


# This leader's settings, or its load, keep it from a call that another leader may make.
_OF_LEADER = (FailureReason.REFUSED, FailureReason.OVERLOADED)


class ToolCalls:
    """Makes tool calls: checks the tool, the URL and the inputs.

    `turns` lets the checks of values take turns, and without `meta` no tool is asked for `/meta`.
    `lanes` hear of URLs that are refused; `values` are those outside the chain. A leader that does
    not sign its calls (`is_signing`) calls no tool whose answers have to be signed for it.
    """

    def __init__(
        self,
        guard: AddressGuard,
        max_request_bytes: int,
        meta: MetaCheck | None,
        lanes: ToolLanes,
        values: RemoteValues,
        *,
        turns: CheckTurns,
        is_signing: bool,
    ) -> None:
        self._turns = turns
        self._lanes = lanes
        self._values = values
        self._guard = guard
        self._max_request_bytes = max_request_bytes
        self._meta = meta
        self._is_signing = is_signing
        self._interfaces = Interfaces()

    @asynccontextmanager
    async def making(
        self,
        assignment: Assignment,
        invocation: Invocation,
        found: FoundTool | None,
        seconds: float,
        run: RunInputs | None = None,
    ) -> AsyncIterator[ToolCall | Failure | Declined]:
        """The tool call, whose response is awaited for `seconds`; of a `run`, with its inputs.

        What was fetched for it has room in memory until the block ends.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        async with AsyncExitStack() as stack:
            try:
                call: ToolCall | Failure | Declined = await self._call(
                    stack, assignment, invocation, _active(found), run, deadline=deadline
                )
            except _NoCallError as error:
                call = failure(error.reason, error.detail)
                if error.reason in _OF_LEADER:
                    call = Declined(call)
            yield call

    async def interface(
        self, invocation: Invocation, found: FoundTool, run: RunInputs | None
    ) -> Interface | Failure:
        """The interface of an active tool, if the inputs fit it and are on chain."""
        try:
            async with self._turns.of(found.tool.id):
                interface = self._interface(_active(found))
                _checked(interface, _ports(invocation, run))
        except _NoCallError as error:
            return failure(error.reason, error.detail)
        return interface

    def _interface(self, found: FoundTool) -> Interface:
        try:
            return self._interfaces.of(found)
        except ValidationError as error:
            raise _NoCallError(FailureReason.DEFINITION_MISMATCH, error.message) from error

    async def _call(
        self,
        stack: AsyncExitStack,
        assignment: Assignment,
        invocation: Invocation,
        found: FoundTool,
        run: RunInputs | None,
        *,
        deadline: float,
    ) -> ToolCall:
        tool = found.tool
        async with self._turns.of(tool.id):
            interface = self._interface(found)
        definition = interface.definition
        self._check_tool(tool, definition, invocation)
        ports = _ports(invocation, run)
        if invocation.signers and any(True for _ in ports.remote()):
            raise _NoCallError(FailureReason.INPUT_INVALID, _NOT_AS_SIGNED)
        try:
            texts = await stack.enter_async_context(self._values.texts(tool.id, ports, deadline))
        except ValidationError as error:
            raise _NoCallError(FailureReason.INPUT_INVALID, error.message) from error
        except TimeoutError as error:
            detail = "this leader had no room for what the inputs fetch"
            raise _NoCallError(FailureReason.OVERLOADED, detail) from error
        async with self._turns.of(tool.id):
            body = self._body(interface, ports, texts, signers=invocation.signers)
        if self._meta is not None:
            problem = await self._meta.problem(tool.id, found.version, definition)
            if problem:
                raise _NoCallError(FailureReason.DEFINITION_MISMATCH, problem)
        return ToolCall(
            invocation=assignment.invocation,
            tool=tool.id,
            fqn=tool.fqn,
            url=definition.url,
            body=body,
            timeout_ms=assignment.timeout_ms,
            deadline=deadline,
            max_outcome_bytes=assignment.max_outcome_bytes,
            keys=tool.keys.keys,
            signers=invocation.signers,
            validator=interface.validator,
            run="" if run is None else run.name,
        )

    def _check_tool(self, tool: Tool, definition: ToolDefinition, invocation: Invocation) -> None:
        """Whether this leader calls the tool, whatever the inputs are."""
        try:
            self._guard.check_url(definition.url)
        except AddressRefused as error:
            self._lanes.of(tool.id, tool.fqn).refused(str(error))
            detail = "this leader does not connect to the URL of the tool"
            detail += f" without {error.option}" if error.option else ""
            raise _NoCallError(FailureReason.REFUSED, detail) from error
        if not self._is_signing and (tool.keys.keys or invocation.signers):
            detail = "the tool signs its answers, and this leader does not sign its calls"
            raise _NoCallError(FailureReason.REFUSED, detail)

    def _body(
        self,
        interface: Interface,
        ports: Ports,
        texts: Mapping[RemotePlace, bytes],
        *,
        signers: Sequence[bytes],
    ) -> bytes:
        """The inputs as they are sent. Parsed, they take much more memory: nobody keeps them."""
        inputs = _checked(interface, ports, texts)
        if signers and ports_of(inputs) != ports:
            raise _NoCallError(FailureReason.INPUT_INVALID, _NOT_AS_SIGNED)
        body = canonical_json(inputs)
        if len(body) > self._max_request_bytes:
            detail = f"this leader sends no more than {self._max_request_bytes} bytes"
            raise _NoCallError(FailureReason.REFUSED, detail)
        return body


# A tool signs what it is asked as we write it, and the chain holds that against what stands there.
_NOT_AS_SIGNED = "the inputs are not in the form in which a tool signs them"


def _ports(invocation: Invocation, run: RunInputs | None) -> Ports:
    return invocation.inputs if run is None else run.ports


def _checked(
    interface: Interface, ports: Ports, texts: Mapping[RemotePlace, bytes] | None = None
) -> dict[str, Any]:
    """The inputs, which fit the interface; without `texts`, none that are outside the chain."""
    try:
        inputs = ports.as_json({} if texts is None else parsed(ports, texts))
        interface.validator.check_input(inputs)
    except ValidationError as error:
        raise _NoCallError(FailureReason.INPUT_INVALID, error.message) from error
    return inputs


def _active(found: FoundTool | None) -> FoundTool:
    reason = FailureReason.TOOL_NOT_REGISTERED
    if found is None:
        raise _NoCallError(reason, "the tool does not exist")
    if not found.tool.is_active:
        raise _NoCallError(reason, f"the tool is {found.tool.state.value}")
    return found
