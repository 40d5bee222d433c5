"""Signed requests and responses (RFC 9421), and signed outcomes. Start with `signing.py`."""
