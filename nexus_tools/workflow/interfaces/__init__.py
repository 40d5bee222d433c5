"""The interfaces of tools, and checks of the compatibility of a workflow's tools.

Start with `lint`.
"""

from nexus_tools.workflow.interfaces.json_types import ANY, LIST, TEXT, JsonTypes, json_types_of
from nexus_tools.workflow.interfaces.lint import ToolFacts, lint_interfaces
from nexus_tools.workflow.interfaces.tool_ports import Port, Ports, ToolPorts

__all__ = [
    "ANY",
    "LIST",
    "TEXT",
    "JsonTypes",
    "Port",
    "Ports",
    "ToolFacts",
    "ToolPorts",
    "json_types_of",
    "lint_interfaces",
]
