"""Closing of invocations: batches, and workers with their funds. Start with `closer.py`."""
