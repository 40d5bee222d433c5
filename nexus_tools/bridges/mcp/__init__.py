"""MCP: the tools of MCP servers as Nexus tools, and any Nexus tools as an MCP server.

What speaks the protocol needs the extra `nexus-tools[mcp]` and is imported when it is needed: the
server from `nexus_tools.bridges.mcp.server`.
"""

from nexus_tools.bridges.mcp.bridge import McpBridge
from nexus_tools.bridges.mcp.catalogue import Catalogue, CataloguePage, Progress
from nexus_tools.bridges.mcp.pins import Pins
from nexus_tools.bridges.mcp.service import Patience

__all__ = ["Catalogue", "CataloguePage", "McpBridge", "Patience", "Pins", "Progress"]
