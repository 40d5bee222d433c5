"""The tool call of an invocation, made from what stands on chain; or the reason against it."""

import asyncio
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.leader.address_guard import AddressGuard, AddressRefused
from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.chain import FoundTool
from nexus_tools.leader.interfaces import Interface, Interfaces
from nexus_tools.leader.judgement import failure
from nexus_tools.leader.meta_check import MetaCheck
from nexus_tools.leader.tool_lanes import ToolLanes
from nexus_tools.package import ports_of
from nexus_tools.package.move.invocation import Invocation
from nexus_tools.package.move.value import Ports
from nexus_tools.sui.address import Address
from nexus_tools.tool import Failure, FailureReason, InterfaceValidator, canonical_json


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
    """What the tool of a run is given, and the run's name: `execution/vertex/path/attempt`."""

    name: str
    ports: Ports


class _NoCallError(Exception):
    """The tool is not called, for a reason."""

    def __init__(self, reason: FailureReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class ToolCalls:
    """Makes tool calls: checks the tool, the inputs and the URL.

    `meta` is None if `/meta` is not to be asked. `lanes` hear of URLs that are refused. A leader
    that does not sign its calls, as `is_signing` says, can have no answer that the tool signs for
    it: it calls no tool whose answers have to be.
    """

    def __init__(
        self,
        guard: AddressGuard,
        max_request_bytes: int,
        meta: MetaCheck | None,
        lanes: ToolLanes,
        *,
        is_signing: bool,
    ) -> None:
        self._lanes = lanes
        self._guard = guard
        self._max_request_bytes = max_request_bytes
        self._meta = meta
        self._is_signing = is_signing
        self._interfaces = Interfaces()

    async def make(
        self,
        assignment: Assignment,
        invocation: Invocation,
        found: FoundTool | None,
        seconds: float,
        run: RunInputs | None = None,
    ) -> ToolCall | Failure:
        """The tool call, whose response is awaited for `seconds`; of a `run`, with its inputs."""
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            return await self._call(assignment, invocation, _active(found), deadline, run)
        except _NoCallError as error:
            return failure(error.reason, error.detail)

    def interface(
        self, invocation: Invocation, found: FoundTool, run: RunInputs | None
    ) -> Interface | Failure:
        """The interface of an active tool, if the inputs fit it."""
        try:
            return self._checked(invocation, _active(found), run)[0]
        except _NoCallError as error:
            return failure(error.reason, error.detail)

    def _checked(
        self, invocation: Invocation, found: FoundTool, run: RunInputs | None
    ) -> tuple[Interface, dict[str, Any]]:
        """The interface and the inputs, which fit it."""
        try:
            interface = self._interfaces.of(found)
        except ValidationError as error:
            raise _NoCallError(FailureReason.DEFINITION_MISMATCH, error.message) from error
        try:
            inputs = (invocation.inputs if run is None else run.ports).as_json()
            interface.validator.check_input(inputs)
        except ValidationError as error:
            raise _NoCallError(FailureReason.INPUT_INVALID, error.message) from error
        return interface, inputs

    async def _call(
        self,
        assignment: Assignment,
        invocation: Invocation,
        found: FoundTool,
        deadline: float,
        run: RunInputs | None,
    ) -> ToolCall:
        tool = found.tool
        interface, inputs = self._checked(invocation, found, run)
        definition, validator = interface.definition, interface.validator
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
        put_together = invocation.inputs if run is None else run.ports
        if invocation.signers and ports_of(inputs) != put_together:
            # The tool signs what it is asked as we write it: its signature would not fit.
            detail = "the inputs are not in the form in which a tool signs them"
            raise _NoCallError(FailureReason.INPUT_INVALID, detail)
        body = canonical_json(inputs)
        if len(body) > self._max_request_bytes:
            detail = f"this leader sends no more than {self._max_request_bytes} bytes"
            raise _NoCallError(FailureReason.REFUSED, detail)
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
            validator=validator,
            run="" if run is None else run.name,
        )


def _active(found: FoundTool | None) -> FoundTool:
    reason = FailureReason.TOOL_NOT_REGISTERED
    if found is None:
        raise _NoCallError(reason, "the tool does not exist")
    if not found.tool.is_active:
        raise _NoCallError(reason, f"the tool is {found.tool.state.value}")
    return found
