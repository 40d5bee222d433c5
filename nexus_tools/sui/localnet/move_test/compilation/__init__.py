"""Compilation of Move packages for unit tests. Begin with `build.py`."""
