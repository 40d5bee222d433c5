"""The tools and workflows that the MCP server offers. Begin with `catalogue.py`."""
