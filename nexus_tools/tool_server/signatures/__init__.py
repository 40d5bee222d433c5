"""Signatures on the side of the tool server. Start with `signatures.py`."""
