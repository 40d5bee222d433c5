"""Operations on tools. Start with `tool_registry.py`."""
