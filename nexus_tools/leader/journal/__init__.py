"""The SQLite journal: what the Leader must not lose at a restart. Start with `journal.py`."""
