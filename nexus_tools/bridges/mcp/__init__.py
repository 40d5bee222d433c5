"""The bridge to MCP servers, which serves their tools as Nexus tools.

Start reading at `bridge.py`. The modules that implement the protocol require the extra
`nexus-tools[mcp]` and are imported on first use.
"""

from nexus_tools.bridges.mcp.bridge import McpBridge
from nexus_tools.bridges.mcp.declaration_schema import mcp_schema
from nexus_tools.bridges.mcp.pins import Pins
from nexus_tools.bridges.mcp.supervisor import ReconnectPolicy

__all__ = ["McpBridge", "Pins", "ReconnectPolicy", "mcp_schema"]
