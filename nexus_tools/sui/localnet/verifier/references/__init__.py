"""Reference safety of bytecode: the borrow checker. Start with `reference_safety.py`."""
