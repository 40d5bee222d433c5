"""Type safety of bytecode. Begin with `type_safety.py`."""
