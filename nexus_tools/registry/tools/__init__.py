"""Operations on tools. Begin with `tool_registry.py`."""
