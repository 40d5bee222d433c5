"""Signatures on the side of the tool server. Begin with `signatures.py`."""
