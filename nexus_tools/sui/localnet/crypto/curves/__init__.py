"""Elliptic curves and their fields. Begin with `weierstrass.py`."""
