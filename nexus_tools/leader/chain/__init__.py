"""Reads of the chain, and the records that the Leader makes of them. Start with `chain.py`."""
