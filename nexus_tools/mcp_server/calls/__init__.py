"""Calls of tools and workflows for MCP clients. Start with `on_chain_calls.py`."""
