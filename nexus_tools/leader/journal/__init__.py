"""The SQLite journal: the state that survives a restart. Start with `journal.py`."""
