"""The objects that an author may pass as a tool, and the properties that each object provides."""

from dataclasses import dataclass
from typing import Any, Protocol

from nexus_tools.errors import UsageError
from nexus_tools.tool import ASK, WAIT, HasSchemas, ToolFqn, ToolType
from nexus_tools.workflow.document.document import VertexKind
from nexus_tools.workflow.interfaces import ToolPorts


class NamedInterface(HasSchemas, Protocol):
    """An object with a name and two schemas: a `ToolDefinition`, or the result of `@tool`."""

    @property
    def fqn(self) -> ToolFqn:
        """The FQN of the tool."""


class HasDefinition(Protocol):
    """A tool from the registry: `definition.parse()` returns its `ToolDefinition`."""

    @property
    def definition(self) -> Any:
        """The definition of the tool."""


UsedTool = NamedInterface | HasDefinition | ToolFqn | str
"""A tool with its ports, or only its FQN. With an FQN, the ports are not checked."""


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """A name, a kind, and the ports if they are known."""

    fqn: ToolFqn
    kind: VertexKind = VertexKind.OFF_CHAIN
    ports: ToolPorts | None = None


def resolve_tool(tool: UsedTool) -> ResolvedTool:
    """Return the name, kind and ports of a tool.

    Raises `UsageError` (`tool_expected`), and `ValidationError` (`fqn_invalid`, `schema_invalid`,
    `definition_invalid`).
    """
    if isinstance(tool, str):
        tool = ToolFqn.parse(tool)
    if isinstance(tool, ToolFqn):
        if str(tool) not in (ASK, WAIT):
            return ResolvedTool(tool)
        from nexus_tools.workflow.document.waiting import WAITING_TOOLS  # noqa: PLC0415 - seldom used

        tool = WAITING_TOOLS[str(tool)]
    interface = _interface(tool)
    is_on_chain = getattr(interface, "type", None) is ToolType.ONCHAIN
    kind = VertexKind.ON_CHAIN if is_on_chain else VertexKind.OFF_CHAIN
    return ResolvedTool(interface.fqn, kind, ToolPorts(interface))


def _interface(tool: Any) -> Any:
    candidate: Any
    for candidate in (tool, getattr(tool, "definition", None)):
        if isinstance(getattr(candidate, "input_schema", None), dict):
            return candidate
        # An on-chain definition has its schemas as bytes. Parse the bytes.
        if hasattr(candidate, "parse") and hasattr(candidate, "input_schema"):
            return candidate.parse()
    raise UsageError(
        "tool_expected",
        f"{tool!r} is not a tool",
        hint="Pass a function with @tool, a ToolDefinition, a registered tool, or an FQN.",
    )
