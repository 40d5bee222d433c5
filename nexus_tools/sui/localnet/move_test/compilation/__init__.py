"""Compilation of Move packages for unit tests. Start with `build.py`."""
