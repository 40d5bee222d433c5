"""The MCP server as a bundle for Claude Desktop, and as an entry of the MCP registry."""

from mcp_packages.bundle import bundle, manifest
from mcp_packages.registry import server_json

__all__ = ["bundle", "manifest", "server_json"]
