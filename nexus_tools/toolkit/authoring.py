"""A Python function made into a tool: `@tool` reads its signature and gives a `Tool`."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticSerializationError

from nexus_tools.errors import ValidationError
from nexus_tools.tool import (
    DEFAULT_TIMEOUT_MS,
    MAX_TIMEOUT_MS,
    MIN_TIMEOUT_MS,
    InterfaceValidator,
    Outcome,
    ToolDefinition,
    ToolFqn,
    ToolType,
)
from nexus_tools.toolkit.call import Call
from nexus_tools.toolkit.signature import Signature
from nexus_tools.toolkit.variant import Variant

Health = Callable[[], bool | Mapping[str, bool] | Awaitable[bool | Mapping[str, bool]]]

# Threads that sync functions of one tool may occupy; more calls wait within their timeout.
_MAX_THREADS = 40


class Tool:
    """A tool as its author wrote it: callable in tests, served by a `ToolServer`.

    Has `input_schema`, `output_schema`, `description` and `timeout_ms`, as its definition has.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        fqn: str | ToolFqn,
        *,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        health: Health | None = None,
    ) -> None:
        self.fqn = fqn if isinstance(fqn, ToolFqn) else ToolFqn.parse(fqn)
        self.function = function
        self.description = inspect.cleandoc(function.__doc__ or "")
        self.timeout_ms = timeout_ms
        self._health = health
        self._threads = CapacityLimiter(_MAX_THREADS)
        self._is_async = inspect.iscoroutinefunction(function)
        try:
            self._read_interface()
        except ValidationError as error:
            raise ValidationError(
                "tool_invalid",
                f"the tool {self.fqn} is wrong: {error.message}",
                hint=error.hint,
                details=error.details,
            ) from error

    def _read_interface(self) -> None:
        if not MIN_TIMEOUT_MS <= self.timeout_ms <= MAX_TIMEOUT_MS:
            message = f"its timeout is not {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS} ms"
            raise ValidationError("tool_invalid", message)
        self._signature = Signature.of(self.function)
        try:
            self.input_schema = self._signature.input_schema()
            self.output_schema = self._signature.output_schema()
        except PydanticUserError as error:
            message = f"an annotation has no JSON schema: {error.message}"
            raise ValidationError("tool_invalid", message) from error
        self._validator = InterfaceValidator(self)
        self.definition("http://localhost")

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

    async def invoke(self, ports: Mapping[str, Any], call: Call | None = None) -> Outcome:
        """Run the tool as the server does, without its time limit.

        Raises `ValidationError` with code `input_invalid` or `output_invalid`, and whatever the
        tool's own code raises.
        """
        return await self.run(self.arguments(ports, call or Call()))

    def arguments(self, ports: Any, call: Call) -> dict[str, Any]:
        """The function's arguments from an input, checked against the schema and the types."""
        self._validator.check_input(ports)
        return self._signature.arguments(ports, call)

    async def run(self, arguments: Mapping[str, Any]) -> Outcome:
        """Call the function, in a worker thread unless it is async, and check what it returns."""
        if self._is_async:
            returned = await self.function(**arguments)
        else:
            returned = await anyio.to_thread.run_sync(
                partial(self.function, **arguments),
                abandon_on_cancel=True,
                limiter=self._threads,
            )
        return self._outcome(returned)

    async def check_health(self) -> dict[str, bool]:
        """The tool's own checks by name, all true if it is ready to be invoked."""
        if self._health is None:
            return {}
        checked = self._health()
        if inspect.isawaitable(checked):
            checked = await checked
        return dict(checked) if isinstance(checked, Mapping) else {"health": bool(checked)}

    def _outcome(self, returned: object) -> Outcome:
        if not isinstance(returned, Variant) or not self._signature.gives(type(returned)):
            known = ", ".join(kind.__name__ for kind in self._signature.variants.values())
            message = f"the tool returned {type(returned).__name__}, which is none of {known}"
            raise ValidationError("output_invalid", message)
        try:
            ports = returned.model_dump(mode="json", by_alias=True, warnings=False)
        except PydanticSerializationError as error:
            message = f"the variant {returned.variant_name} cannot be written as JSON: {error}"
            raise ValidationError("output_invalid", message) from error
        return self._validator.check_output({returned.variant_name: ports})

    def __repr__(self) -> str:
        return f"<Tool {self.fqn}>"


def tool(
    fqn: str | ToolFqn, *, timeout_ms: int = DEFAULT_TIMEOUT_MS, health: Health | None = None
) -> Callable[[Callable[..., Any]], Tool]:
    """Make the decorated function, sync or async, a `Tool`.

    Parameters are ports, the docstring is the description, the return annotation is the union of
    the variants. `timeout_ms` is 1 000 to 120 000. `health` answers, sync or async, whether the
    tool is ready: one truth or several by name. Raises `ValidationError` with code `tool_invalid`
    (or `fqn_invalid`) when the function cannot be a tool.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        return Tool(function, fqn, timeout_ms=timeout_ms, health=health)

    return decorate
