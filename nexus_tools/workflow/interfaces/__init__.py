"""The interfaces of tools, and the checks whether the tools of a workflow are compatible.

Begin with `lint`.
"""

from nexus_tools.workflow.interfaces.lint import ToolFacts, lint_interfaces
from nexus_tools.workflow.interfaces.shape import ANY, LIST, TEXT, Shape, shape_of_type
from nexus_tools.workflow.interfaces.tool_ports import Port, Ports, ToolPorts

__all__ = [
    "ANY",
    "LIST",
    "TEXT",
    "Port",
    "Ports",
    "Shape",
    "ToolFacts",
    "ToolPorts",
    "lint_interfaces",
    "shape_of_type",
]
