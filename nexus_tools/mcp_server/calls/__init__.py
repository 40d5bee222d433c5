"""Calls of tools and workflows for MCP clients. Start reading in `on_chain_calls.py`."""
