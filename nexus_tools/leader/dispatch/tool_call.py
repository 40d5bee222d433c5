"""Tool calls: HTTP requests that are built from the on-chain data of invocations."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nexus_tools.contracts import RemoteReference, ports_of
from nexus_tools.contracts.move_bindings.invocation import Invocation
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import ValidationError
from nexus_tools.http.address_guard import AddressGuard, AddressRefused
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.leader.dispatch.interfaces import Interface, InterfaceCache
from nexus_tools.leader.dispatch.meta_check import MetaCheck
from nexus_tools.leader.dispatch.remote_values import RemoteValues, parsed
from nexus_tools.leader.dispatch.response_classifier import Declined, failure
from nexus_tools.leader.dispatch.tool_health import ToolHealthRegistry
from nexus_tools.leader.dispatch.validation_turns import ValidationTurns
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
    """The HTTP request of one invocation. `deadline` uses the event loop's clock."""

    invocation: Address
    tool: Address
    fqn: str
    url: str
    body: bytes
    timeout_ms: int
    deadline: float
    max_outcome_bytes: int
    keys: tuple[bytes, ...]
    """The tool's on-chain public keys, one of which must sign the answer, or empty."""
    signers: tuple[bytes, ...]
    """The public keys for the signature that the chain verifies, or empty without verification."""
    validator: InterfaceValidator
    run: str = ""
    """The value of the run header, or an empty string if the invocation is not an attempt."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The inputs of a run, and the name of the attempt: `execution/vertex/path/attempt`."""

    name: str
    ports: Ports


class _NotCalledError(Exception):
    """The exception for a tool that must not be called, with the reason."""

    def __init__(self, reason: FailureReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


# Reasons that concern only this leader's settings or load. Another leader may call the tool.
_LEADER_REASONS = (FailureReason.REFUSED, FailureReason.OVERLOADED)


class ToolCalls:
    """A builder of tool calls, which first checks the tool, the URL and the inputs.

    `turns` schedules validations. If `meta` is None, `/meta` is not checked. `lanes` records
    refused URLs. `values` fetches remote values. `is_signing` is whether this leader signs its
    calls. A leader that does not sign calls skips tools that sign their answers.
    """

    def __init__(
        self,
        guard: AddressGuard,
        max_request_bytes: int,
        meta: MetaCheck | None,
        tool_health: ToolHealthRegistry,
        values: RemoteValues,
        *,
        turns: ValidationTurns,
        is_signing: bool,
    ) -> None:
        self._turns = turns
        self._tool_health = tool_health
        self._values = values
        self._guard = guard
        self._max_request_bytes = max_request_bytes
        self._meta = meta
        self._is_signing = is_signing
        self._interfaces = InterfaceCache()

    @asynccontextmanager
    async def open_call(
        self,
        assignment: Assignment,
        invocation: Invocation,
        found: FoundTool | None,
        seconds: float,
        run: RunInputs | None = None,
    ) -> AsyncIterator[ToolCall | Failure | Declined]:
        """Yield a tool call with a timeout of `seconds`, or the reason why it is impossible.

        If the invocation is an attempt, `run` contains the inputs. Fetched values stay in memory
        until the context ends.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        async with AsyncExitStack() as stack:
            try:
                call: ToolCall | Failure | Declined = await self._call(
                    stack, assignment, invocation, _require_active(found), run, deadline=deadline
                )
            except _NotCalledError as error:
                call = failure(error.reason, error.detail)
                if error.reason in _LEADER_REASONS:
                    call = Declined(call)
            yield call

    async def interface(
        self, invocation: Invocation, found: FoundTool, run: RunInputs | None
    ) -> Interface | Failure:
        """Return the interface of an on-chain tool, or a failure if it cannot be called.

        The tool must be active, and the inputs must be valid and without remote values.
        """
        try:
            async with self._turns.of(found.tool.id):
                interface = self._interface(_require_active(found))
                _validated_inputs(interface, _ports(invocation, run))
        except _NotCalledError as error:
            return failure(error.reason, error.detail)
        return interface

    def _interface(self, tool_object: FoundTool) -> Interface:
        try:
            return self._interfaces.of(tool_object)
        except ValidationError as error:
            raise _NotCalledError(FailureReason.DEFINITION_MISMATCH, error.message) from error

    async def _call(
        self,
        stack: AsyncExitStack,
        assignment: Assignment,
        invocation: Invocation,
        tool_object: FoundTool,
        run: RunInputs | None,
        *,
        deadline: float,
    ) -> ToolCall:
        tool = tool_object.tool
        async with self._turns.of(tool.id):
            interface = self._interface(tool_object)
        definition = interface.definition
        self._check_tool(tool, definition, invocation)
        ports = _ports(invocation, run)
        if invocation.signers and any(True for _ in ports.remote()):
            raise _NotCalledError(FailureReason.INPUT_INVALID, _NOT_CANONICAL)
        try:
            texts = await stack.enter_async_context(self._values.texts(tool.id, ports, deadline))
        except ValidationError as error:
            raise _NotCalledError(FailureReason.INPUT_INVALID, error.message) from error
        except TimeoutError as error:
            detail = "this leader did not have capacity to fetch the inputs"
            raise _NotCalledError(FailureReason.OVERLOADED, detail) from error
        async with self._turns.of(tool.id):
            body = self._body(interface, ports, texts, signers=invocation.signers)
        if self._meta is not None:
            problem = await self._meta.problem(tool.id, tool_object.version, definition)
            if problem:
                raise _NotCalledError(FailureReason.DEFINITION_MISMATCH, problem)
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
        """Raise `_NotCalledError` if this leader never calls the tool, regardless of the inputs."""
        try:
            self._guard.check_url(definition.url)
        except AddressRefused as error:
            self._tool_health.of(tool.id, tool.fqn).record_refusal(str(error))
            detail = "this leader does not connect to the URL of the tool"
            detail += f" unless it is started with {error.option}" if error.option else ""
            raise _NotCalledError(FailureReason.REFUSED, detail) from error
        if not self._is_signing and (tool.keys.keys or invocation.signers):
            detail = "the tool signs its answers, but this leader does not sign its calls"
            raise _NotCalledError(FailureReason.REFUSED, detail)

    def _body(
        self,
        interface: Interface,
        ports: Ports,
        texts: Mapping[RemoteReference, bytes],
        *,
        signers: Sequence[bytes],
    ) -> bytes:
        """Return the request body. Do not keep the parsed inputs, which need more memory."""
        inputs = _validated_inputs(interface, ports, texts)
        if signers and ports_of(inputs) != ports:
            raise _NotCalledError(FailureReason.INPUT_INVALID, _NOT_CANONICAL)
        body = canonical_json(inputs)
        if len(body) > self._max_request_bytes:
            detail = f"this leader sends at most {self._max_request_bytes} bytes"
            raise _NotCalledError(FailureReason.REFUSED, detail)
        return body


# The tool's signature covers the request body. The chain verifies the signature with its own
# canonical encoding of the inputs.
_NOT_CANONICAL = "the inputs are not in the canonical form that a tool signs"


def _ports(invocation: Invocation, run: RunInputs | None) -> Ports:
    return invocation.inputs if run is None else run.ports


def _validated_inputs(
    interface: Interface, ports: Ports, texts: Mapping[RemoteReference, bytes] | None = None
) -> dict[str, Any]:
    """Return the validated inputs. Without `texts`, remote values are invalid inputs."""
    try:
        inputs = ports.as_json({} if texts is None else parsed(ports, texts))
        interface.validator.check_input(inputs)
    except ValidationError as error:
        raise _NotCalledError(FailureReason.INPUT_INVALID, error.message) from error
    return inputs


def _require_active(tool_object: FoundTool | None) -> FoundTool:
    reason = FailureReason.TOOL_NOT_REGISTERED
    if tool_object is None:
        raise _NotCalledError(reason, "the tool does not exist")
    if not tool_object.tool.is_active:
        raise _NotCalledError(reason, f"the tool is {tool_object.tool.state.value}")
    return tool_object
