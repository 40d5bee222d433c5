"""Closing of invocations in batches, by workers that pay the gas. Start with `closer.py`."""
