"""Verification and signing in the tool server. Start with `signatures.py`."""
