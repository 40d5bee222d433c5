"""Closing of invocations: batches, workers, and their money. Begin with `closer.py`."""
