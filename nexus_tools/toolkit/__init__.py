"""Make a tool: `@tool` on a function, `Variant` for its answers, `ToolServer` to serve it."""

from nexus_tools.toolkit.authoring import FunctionTool, tool
from nexus_tools.toolkit.call import Call
from nexus_tools.toolkit.invoke import Limits
from nexus_tools.toolkit.loading import load
from nexus_tools.toolkit.recent import RecentInvocations
from nexus_tools.toolkit.server import ToolServer
from nexus_tools.toolkit.serving import run, serve
from nexus_tools.toolkit.tool import Tool
from nexus_tools.toolkit.variant import Variant

__all__ = [
    "Call",
    "FunctionTool",
    "Limits",
    "RecentInvocations",
    "Tool",
    "ToolServer",
    "Variant",
    "load",
    "run",
    "serve",
    "tool",
]
