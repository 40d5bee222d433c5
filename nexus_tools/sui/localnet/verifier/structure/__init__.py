"""Checks of the tables of a module. Begin with `bounds.py`."""
