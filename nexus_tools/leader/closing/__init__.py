"""Closing of invocations: batches, workers, and their money. Start with `closer.py`."""
