"""MCP: the tools of MCP servers as Nexus tools.

What speaks the protocol needs the extra `nexus-tools[mcp]` and is imported when it is needed.
"""

from nexus_tools.bridges.mcp.bridge import McpBridge
from nexus_tools.bridges.mcp.pins import Pins
from nexus_tools.bridges.mcp.supervisor import Patience

__all__ = ["McpBridge", "Patience", "Pins"]
