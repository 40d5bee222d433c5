"""Type safety of bytecode. Start with `type_safety.py`."""
