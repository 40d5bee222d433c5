"""The tools and workflows that the MCP server offers. Start with `catalogue.py`."""
