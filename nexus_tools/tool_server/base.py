"""A tool as a server sees it: a name, an interface, something that runs; and its call."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nexus_tools.errors import NotNowError, ValidationError
from nexus_tools.tool import (
    DEFAULT_TIMEOUT_MS,
    MAX_TIMEOUT_MS,
    MIN_TIMEOUT_MS,
    Answer,
    InterfaceValidator,
    ToolDefinition,
    ToolFqn,
    ToolType,
)


@dataclass(frozen=True, slots=True)
class Call:
    """The context of one invocation: a parameter annotated with `Call` receives it.

    `invocation` is the id of the invocation on chain, `deadline` the moment after which nobody
    waits any more, `max_outcome_bytes` what the requester pays for, `leader` the id of the leader
    whose signature was verified. All are absent in tests and for callers that do not say them.
    """

    invocation: str | None = None
    deadline: datetime | None = None
    max_outcome_bytes: int | None = None
    leader: str | None = None


class NotReadyError(NotNowError):
    """A tool raises it when it cannot start now: nothing has happened, and callers may try again.

    The server responds with 503 `not_ready`, and shows the message and the hint to the caller.
    """

    def __init__(self, message: str, *, code: str = "not_ready", hint: str = "") -> None:
        super().__init__(code, message, hint=hint)


class NotAuthorizedError(Exception):
    """Whoever authorizes calls raises it to refuse one: the message is told to the caller."""


Authorize = Callable[[Call], bool | Awaitable[bool]]
Health = Callable[[], bool | Mapping[str, bool] | Awaitable[bool | Mapping[str, bool]]]


class Tool(ABC):
    """What a `ToolServer` serves: it checks what goes in and out, a subclass runs.

    Raises `ValidationError` with code `tool_invalid` (or `fqn_invalid`) when a definition cannot be
    made of it: `timeout_ms` is 1 000 to 120 000, the schemas obey the rules of tools. `health`
    says, sync or async, whether the tool is ready: one truth or several by name. `authorize` says,
    sync or async, whether a call may run: what is not `True` refuses it.
    """

    def __init__(
        self,
        fqn: str | ToolFqn,
        *,
        description: str,
        input_schema: dict[str, Any],
        output_schema: dict[str, Any],
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        health: Health | None = None,
        authorize: Authorize | None = None,
    ) -> None:
        self.fqn = fqn if isinstance(fqn, ToolFqn) else ToolFqn.parse(fqn)
        self.description = description
        self.timeout_ms = timeout_ms
        self.input_schema = input_schema
        self.output_schema = output_schema
        self._health = health
        self._authorize = authorize
        try:
            self._check_timeout()
            self._validator = InterfaceValidator(self)
            self.definition("http://localhost")
        except ValidationError as error:
            raise tool_invalid(self.fqn, error) from error

    @abstractmethod
    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do the work: from arguments as `arguments` gives them to `{variant: {port: value}}`."""

    def arguments(
        self,
        ports: Any,
        call: Call,  # noqa: ARG002 - for subclasses
        json_bytes: int | None = None,
    ) -> dict[str, Any]:
        """What `run` is given, from an input that is checked against the schema.

        `json_bytes` is the size of the text that `parse_json` read the input from, if it did.
        """
        self._validator.check_input(ports, json_bytes)
        return dict(ports)

    def definition(self, url: str) -> ToolDefinition:
        """The definition of this tool as it is reached at `url`."""
        return ToolDefinition.parse(
            {
                "fqn": str(self.fqn),
                "type": ToolType.OFFCHAIN.value,
                "url": url,
                "description": self.description,
                "timeout": self.timeout_ms,
                "input_schema": self.input_schema,
                "output_schema": self.output_schema,
            }
        )

    async def invoke(self, ports: Mapping[str, Any], call: Call | None = None) -> Answer:
        """Run the tool as the server does, without its time limit.

        Raises `ValidationError` with code `input_invalid` or `output_invalid`, and whatever the
        tool's own code raises.
        """
        return await self.answer(self.arguments(ports, call or Call()))

    async def answer(self, arguments: Mapping[str, Any]) -> Answer:
        """Run, and check what came of it. Raises `output_invalid`, and what `run` raises."""
        return self._validator.check_output(await self.run(arguments))

    async def check_authorized(self, call: Call) -> None:
        """Ask the author whether a call may run. Raises `NotAuthorizedError`, and what they do."""
        if self._authorize is None:
            return
        authorized = self._authorize(call)
        if inspect.isawaitable(authorized):
            authorized = await authorized
        if authorized is not True:
            raise NotAuthorizedError("this call is not authorized")

    async def check_health(self) -> dict[str, bool]:
        """The tool's own checks by name, all true if it is ready to be invoked."""
        if self._health is None:
            return {}
        checked = self._health()
        if inspect.isawaitable(checked):
            checked = await checked
        return dict(checked) if isinstance(checked, Mapping) else {"health": bool(checked)}

    def _check_timeout(self) -> None:
        if not MIN_TIMEOUT_MS <= self.timeout_ms <= MAX_TIMEOUT_MS:
            message = f"its timeout is not {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS} ms"
            raise ValidationError("tool_invalid", message)

    def __repr__(self) -> str:
        return f"<Tool {self.fqn}>"


def tool_invalid(fqn: ToolFqn, cause: ValidationError) -> ValidationError:
    """The error of a tool that cannot be one, with what is wrong with it."""
    return ValidationError(
        "tool_invalid",
        f"the tool {fqn} is wrong: {cause.message}",
        hint=cause.hint,
        details=cause.details,
    )
