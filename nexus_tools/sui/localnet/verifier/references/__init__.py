"""Reference safety of bytecode: the borrow checker. Begin with `reference_safety.py`."""
