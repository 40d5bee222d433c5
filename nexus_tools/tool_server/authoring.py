"""The `@tool` decorator, which turns a Python function into a `Tool` by its signature."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter
from pydantic.errors import PydanticUserError
from pydantic_core import from_json

from nexus_tools.errors import ValidationError
from nexus_tools.tool import DEFAULT_TIMEOUT_MS, MAX_DEPTH, Answer, ToolFqn
from nexus_tools.tool_server.base import Authorize, Call, Health, Tool, tool_invalid
from nexus_tools.tool_server.function_signature import Signature
from nexus_tools.tool_server.variant import Variant

# The maximum number of threads of one tool whose function is not async. Further calls wait for a
# free thread, and the wait counts towards their timeout.
_MAX_THREADS = 40


class FunctionTool(Tool):
    """A tool that calls the author's `function`, in a worker thread if it is not async."""

    def __init__(
        self,
        function: Callable[..., Any],
        fqn: str | ToolFqn,
        *,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        health: Health | None = None,
        authorize: Authorize | None = None,
    ) -> None:
        self.function = function
        self._threads = CapacityLimiter(_MAX_THREADS)
        self._is_async = inspect.iscoroutinefunction(function)
        fqn = fqn if isinstance(fqn, ToolFqn) else ToolFqn.parse(fqn)
        try:
            self._signature = Signature.of(function)
            schemas = _schemas(self._signature)
        except ValidationError as error:
            raise tool_invalid(fqn, error) from error
        super().__init__(
            fqn,
            description=inspect.cleandoc(function.__doc__ or ""),
            input_schema=schemas[0],
            output_schema=schemas[1],
            timeout_ms=timeout_ms,
            health=health,
            authorize=authorize,
        )

    def arguments(self, ports: Any, call: Call, json_bytes: int | None = None) -> dict[str, Any]:
        """Check an input against the schema and the annotations, and return the arguments."""
        self._validator.check_input(ports, json_bytes)
        return self._signature.arguments(ports, call)

    async def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the function and return its variant as `{variant: {port: value}}`."""
        return (await self.answer(arguments)).as_json()

    async def answer(self, arguments: Mapping[str, Any]) -> Answer:
        """Call the function and check its variant as JSON. Raises the errors of `Tool.answer`."""
        if self._is_async:
            returned = await self.function(**arguments)
        else:
            returned = await anyio.to_thread.run_sync(
                partial(self.function, **arguments),
                abandon_on_cancel=True,
                limiter=self._threads,
            )
        return self._checked(returned)

    def _checked(self, returned: object) -> Answer:
        if not isinstance(returned, Variant) or not self._signature.gives(type(returned)):
            known = " or ".join(kind.__name__ for kind in self._signature.variants.values())
            name = getattr(self.function, "__name__", str(self.fqn))
            message = f"{name} must return {known}, but returned {type(returned).__name__}"
            raise ValidationError("output_invalid", message)
        try:
            # The call is equivalent to `model_dump_json`, but does not look up unused options. The
            # value is serialized and parsed again, so it is certainly JSON, and the size of the
            # text bounds the cost of the check. Serializing takes less time than measuring the
            # value.
            text = returned.__pydantic_serializer__.to_json(returned, by_alias=True, warnings=False)
            ports = from_json(text, allow_inf_nan=False)
        except ValueError as error:
            message = f"the variant {returned.variant_name} cannot be written as JSON: {error}"
            raise ValidationError("output_invalid", message) from error
        is_shallow = text.count(b"[") + text.count(b"{") < MAX_DEPTH
        size = len(text) if is_shallow else None
        return self._validator.check_output({returned.variant_name: ports}, size)


def tool(
    fqn: str | ToolFqn,
    *,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
    health: Health | None = None,
    authorize: Authorize | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]:
    """Turn the decorated function into a `Tool`.

    Parameters are ports, the docstring is the description, and the return annotation is the union
    of the variants. `timeout_ms` must be between 1 000 and 120 000. `health` returns whether the
    tool is ready, as a boolean or as a mapping from check names to booleans. `authorize` returns
    whether a `Call` may run. Any result except `True` rejects the call. To explain the rejection,
    raise a `NotAuthorizedError`. The decorated function and both callbacks may be async.

    Raises:
        ValidationError: The function cannot be a tool (code `tool_invalid` or `fqn_invalid`).
    """
    if callable(fqn):
        message = 'the decorator @tool needs an FQN, for example @tool("xyz.example.math.add@1")'
        raise ValidationError("tool_invalid", message)

    def decorate(function: Callable[..., Any]) -> FunctionTool:
        return FunctionTool(
            function, fqn, timeout_ms=timeout_ms, health=health, authorize=authorize
        )

    return decorate


def _schemas(signature: Signature) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        return signature.input_schema(), signature.output_schema()
    except PydanticUserError as error:
        message = f"an annotation has no JSON schema: {error.message}"
        raise ValidationError("tool_invalid", message) from error
