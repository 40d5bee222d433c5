"""Signed requests and responses (RFC 9421), and signed outcomes. Begin with `signing.py`."""
