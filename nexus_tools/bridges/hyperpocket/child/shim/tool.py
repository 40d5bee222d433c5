"""`Tool`, `ToolAuth`, and `ToolRequest`, as Hyperpocket's documentation describes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field, create_model

from nexus_tools.bridges.hyperpocket.child.shim.provider import AuthProvider


class ToolAuth(BaseModel):
    """The authentication that a tool needs.

    Without a provider, the tool needs no authentication.
    """

    auth_provider: AuthProvider | None = None
    auth_handler: str | None = None
    scopes: list[str] | None = None


class Tool(BaseModel, ABC):
    """The base class of authors' tools. A subclass implements `invoke` or `ainvoke`."""

    name: str
    description: str
    argument_json_schema: dict[str, Any] | None = None
    auth: ToolAuth | None = None
    postprocessings: list[Callable[..., Any]] | None = None
    default_tool_vars: dict[str, str] = Field(default_factory=dict)
    overridden_tool_vars: dict[str, str] = Field(default_factory=dict)
    use_profile: bool = False

    @abstractmethod
    def invoke(self, **kwargs: Any) -> Any:
        """Run the tool with `body`, `envs`, `thread_id`, and `profile`."""

    async def ainvoke(self, **kwargs: Any) -> Any:
        """Run the tool asynchronously. The default implementation calls `invoke`."""
        return self.invoke(**kwargs)

    @property
    def tool_vars(self) -> dict[str, str]:
        """The tool's variables. Variables that its user sets override the defaults."""
        return {**self.default_tool_vars, **self.overridden_tool_vars}

    def override_tool_variables(self, override_vars: dict[str, str]) -> Tool:
        """Override variables of the tool."""
        self.overridden_tool_vars = {**self.overridden_tool_vars, **override_vars}
        return self

    def schema_model(self, use_profile: bool = False) -> type[BaseModel]:
        """Return a model of the arguments. With `use_profile`, wrap the arguments as `body`."""
        schema = self.argument_json_schema or {"type": "object", "properties": {}}
        if not use_profile:
            names = schema.get("properties", {})
            fields: Any = {name: (Any, ...) for name in names if name in schema.get("required", ())}
            fields |= {name: (Any, None) for name in names if name not in fields}
            return create_model(self.name, **fields)
        body = self.schema_model()
        return create_model(
            self.name, body=(body, ...), thread_id=(str, "default"), profile=(str, "default")
        )

    def with_postprocessing(self, postprocessing: Callable[..., Any]) -> Tool:
        """Apply a function to the result."""
        return self.with_postprocessings([postprocessing])

    def with_postprocessings(self, postprocessings: list[Callable[..., Any]]) -> Tool:
        """Apply functions to the result, one after the other."""
        self.postprocessings = [*(self.postprocessings or []), *postprocessings]
        return self

    def __or__(self, other: Callable[..., Any]) -> Tool:
        return self.with_postprocessing(other)


class ToolRequest:
    """The location of a packaged tool, from which `Pocket` created the tool."""

    def __init__(self, tool_source: str, tool_vars: dict[str, str] | None = None) -> None:
        self.tool_source = tool_source
        self.tool_vars = dict(tool_vars or {})


def from_local(path: str, tool_vars: dict[str, str] | None = None) -> ToolRequest:
    """Return the request for a packaged tool in a folder."""
    return ToolRequest(str(path), tool_vars)


def from_git(
    repository: str, ref: str = "main", rel_path: str = "", tool_vars: dict[str, str] | None = None
) -> ToolRequest:
    """Return the request for a packaged tool in a repository."""
    return ToolRequest(f"{repository}/tree/{ref}/{rel_path}".rstrip("/"), tool_vars)
