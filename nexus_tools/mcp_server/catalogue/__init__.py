"""The tools and workflows that the MCP server offers. Start reading in `catalogue.py`."""
