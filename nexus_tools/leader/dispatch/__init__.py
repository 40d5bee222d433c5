"""Calls of off-chain tools: validation, signed requests, and responses. Begin with `invoker.py`."""
