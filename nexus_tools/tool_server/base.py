"""The base class of served tools, and the context of a call."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from nexus_tools.errors import ValidationError, WrongStateError
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


class Call(Struct, frozen=True):
    """The context of one invocation, passed to a parameter annotated with `Call`.

    `invocation` is the on-chain ID of the invocation. `deadline` is the time after which the caller
    no longer waits. `max_outcome_bytes` is the maximum size of the outcome that the requester pays
    for. `leader` is the ID of the leader whose signature was verified. An attribute is None if the
    caller does not send its value, and by default in tests.
    """

    invocation: str | None = None
    deadline: datetime | None = None
    max_outcome_bytes: int | None = None
    leader: str | None = None


class NotReadyError(WrongStateError):
    """An error that a tool raises if it cannot run now. Callers may retry, because no code has run.

    The server responds with 503 `not_ready`, and shows the message and the hint to the caller.
    """

    def __init__(self, message: str, *, code: str = "not_ready", hint: str = "") -> None:
        super().__init__(code, message, hint=hint)


class NotAuthorizedError(Exception):
    """An error that an `authorize` callback raises to reject a call.

    The caller sees the message.
    """


Authorize = Callable[[Call], bool | Awaitable[bool]]
Health = Callable[[], bool | Mapping[str, bool] | Awaitable[bool | Mapping[str, bool]]]


class Tool(ABC):
    """A tool of a `ToolServer`, which checks inputs and outputs. Subclasses implement `run`.

    `timeout_ms` must be between 1 000 and 120 000. The schemas must follow the rules for tools.
    `health` returns whether the tool is ready, as a boolean or as a mapping from check names to
    booleans. `authorize` returns whether a call may run. Any result except `True` rejects the call.
    `health` and `authorize` may be async.

    Raises:
        ValidationError: The tool has no valid definition (code `tool_invalid` or `fqn_invalid`).
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
        """Run the tool and return `{variant: {port: value}}`.

        The method `arguments` returns the arguments.
        """

    def arguments(
        self,
        ports: Any,
        call: Call,  # noqa: ARG002 - for subclasses
        json_bytes: int | None = None,
    ) -> dict[str, Any]:
        """Check an input against the schema, and return the arguments for `run`.

        If the input was parsed by `parse_json`, `json_bytes` is the size of the JSON text.
        """
        self._validator.check_input(ports, json_bytes)
        return dict(ports)

    def definition(self, url: str) -> ToolDefinition:
        """Return the definition of this tool for the URL `url`."""
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
        """Run the tool as the server does, but without a time limit.

        Raises `ValidationError` with code `input_invalid` or `output_invalid`, or an error of the
        tool's own code.
        """
        return await self.answer(self.arguments(ports, call or Call()))

    async def answer(self, arguments: Mapping[str, Any]) -> Answer:
        """Run the tool and check its output. Raises `output_invalid` and the errors of `run`."""
        return self._validator.check_output(await self.run(arguments))

    async def check_authorized(self, call: Call) -> None:
        """Call the author's `authorize`. Raises `NotAuthorizedError` and errors of the callback."""
        if self._authorize is None:
            return
        result = self._authorize(call)
        if inspect.isawaitable(result):
            result = await result
        if result is not True:
            raise NotAuthorizedError("this call is not authorized")

    async def check_health(self) -> dict[str, bool]:
        """Return the results of the author's `health` by name.

        The tool is ready if all are True.
        """
        if self._health is None:
            return {}
        result = self._health()
        if inspect.isawaitable(result):
            result = await result
        return dict(result) if isinstance(result, Mapping) else {"health": bool(result)}

    def _check_timeout(self) -> None:
        if not MIN_TIMEOUT_MS <= self.timeout_ms <= MAX_TIMEOUT_MS:
            message = f"expected a timeout of {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS} ms"
            raise ValidationError("tool_invalid", message)

    def __repr__(self) -> str:
        return f"<Tool {self.fqn}>"


def tool_invalid(fqn: ToolFqn, cause: ValidationError) -> ValidationError:
    """Return the error for a tool with an invalid definition."""
    return ValidationError(
        "tool_invalid",
        f"the tool {fqn} is invalid: {cause.message}",
        hint=cause.hint,
        details=cause.details,
    )
