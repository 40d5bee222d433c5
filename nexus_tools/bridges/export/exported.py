"""A tool as another system reads it, and a set of them as one document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.export.arguments import Arguments
from nexus_tools.tool import ToolDefinition


@dataclass(frozen=True, slots=True)
class ExportedTool:
    """A tool by its name in the other system.

    `document` is the tool in that system's form. `warning` says what was lost, in one sentence.
    """

    definition: ToolDefinition
    name: str
    document: dict[str, Any]
    arguments: Arguments
    warning: str = ""

    def to_ports(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The ports in the arguments of a call. Raises `input_invalid` if there are none."""
        return self.arguments.to_ports(arguments)

    def as_entry(self) -> dict[str, Any]:
        """What somebody who answers calls has to know of the tool, besides its name."""
        return {
            "fqn": str(self.definition.fqn),
            "type": self.definition.type.value,
            "url": self.definition.url,
            "wrapped": self.arguments.wrapped,
            "nulls_filled_in": self.arguments.unfilled is not None,
        }


@dataclass(frozen=True, slots=True)
class Export:
    """Tools for one system: the document that it reads, and what it does not say.

    `skipped` says which tools are not in the document, and why.
    """

    document: Any
    tools: tuple[ExportedTool, ...]
    skipped: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Everything that a reader would not expect, in sentences."""
        return (*self.skipped, *(tool.warning for tool in self.tools if tool.warning))

    def names(self) -> dict[str, dict[str, Any]]:
        """The table that leads from a name to its tool."""
        return {tool.name: tool.as_entry() for tool in self.tools}
