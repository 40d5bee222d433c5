"""The SQLite journal: what the Leader must not lose at a restart. Begin with `journal.py`."""
