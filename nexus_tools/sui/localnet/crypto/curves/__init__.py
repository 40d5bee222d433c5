"""Elliptic curves and their fields. Start with `weierstrass.py`."""
