"""`FunctionTool`: a tool that calls a function, whose annotations describe the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from nexus_tools.bridges.hyperpocket.child.shim.signature import parameter_model
from nexus_tools.bridges.hyperpocket.child.shim.tool import Tool, ToolAuth


class FunctionTool(Tool):
    """A tool that calls `func`, or `afunc` for an asynchronous function."""

    func: Callable[..., Any] | None = None
    afunc: Callable[..., Coroutine[Any, Any, Any]] | None = None
    keep_structured_arguments: bool = False

    def invoke(self, **kwargs: Any) -> Any:
        """Call the function with the names in `body`."""
        assert self.func is not None
        return self.func(**kwargs["body"])

    async def ainvoke(self, **kwargs: Any) -> Any:
        """Call the asynchronous function with the names in `body`."""
        return self.invoke(**kwargs) if self.afunc is None else await self.afunc(**kwargs["body"])

    @classmethod
    def from_func(  # noqa: PLR0917 - the signature of the package
        cls,
        func: Any,
        afunc: Any = None,
        name: str | None = None,
        description: str | None = None,
        json_schema: dict[str, Any] | None = None,
        auth: ToolAuth | None = None,
        tool_vars: dict[str, str] | None = None,
        keep_structured_arguments: bool = False,
    ) -> FunctionTool:
        """Return the tool for a function. If a tool is passed, set its variables."""
        for candidate in (func, afunc):
            if isinstance(candidate, FunctionTool):
                candidate.override_tool_variables(tool_vars or {})
                return candidate
        function = func or afunc
        if not callable(function):
            message = "FunctionTool requires a function"
            raise ValueError(message)  # noqa: TRY004 - the package raises this class
        return cls(
            name=name or function.__name__,
            description=description or inspect.getdoc(function) or name or function.__name__,
            argument_json_schema=json_schema or parameter_model(function).model_json_schema(),
            auth=auth,
            default_tool_vars=tool_vars or {},
            func=func,
            afunc=afunc or (func if inspect.iscoroutinefunction(func) else None),
            keep_structured_arguments=keep_structured_arguments,
        )

    @classmethod
    def from_dock(
        cls, dock: list[Callable[..., Any]], tool_vars: dict[str, str] | None = None
    ) -> list[FunctionTool]:
        """Return tools for functions, as `__model__`, `__auth__`, and `__vars__` describe them."""
        return [cls._of_dock(function, tool_vars or {}) for function in dock]

    @classmethod
    def _of_dock(cls, function: Callable[..., Any], tool_vars: dict[str, str]) -> FunctionTool:
        marks = vars(function)
        model = marks.get("__model__") or parameter_model(function)
        auth = marks.get("__auth__")
        return cls.from_func(
            function,
            json_schema=model.model_json_schema(),
            auth=None if auth is None else ToolAuth(**auth),
            tool_vars={**tool_vars, **marks.get("__vars__", {})},
        )


def function_tool(
    func: Callable[..., Any] | None = None,
    *,
    auth_provider: Any = None,
    scopes: list[str] | None = None,
    auth_handler: str | None = None,
    tool_vars: dict[str, str] | None = None,
) -> Any:
    """Make the decorated function a `FunctionTool`. The parentheses are optional."""

    def decorate(function: Callable[..., Any]) -> FunctionTool:
        auth = None
        if auth_provider is not None:
            auth = ToolAuth(
                auth_provider=auth_provider, auth_handler=auth_handler, scopes=scopes or []
            )
        return FunctionTool.from_func(function, auth=auth, tool_vars=tool_vars)

    return decorate if func is None else decorate(func)
