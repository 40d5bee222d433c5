"""Checks of the tables of a module. Start with `bounds.py`."""
