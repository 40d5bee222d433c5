"""Calls of off-chain tools: validation, signed requests, and responses. Start with `invoker.py`."""
