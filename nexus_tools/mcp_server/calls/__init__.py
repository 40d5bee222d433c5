"""Calls of tools and workflows for MCP clients. Begin with `on_chain_calls.py`."""
