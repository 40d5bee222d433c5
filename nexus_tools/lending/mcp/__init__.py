"""Registered tools for MCP clients: what is on offer, and calls, straight or on chain."""
