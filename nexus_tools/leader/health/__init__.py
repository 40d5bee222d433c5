"""Health and heartbeat of the Leader. Start with `health.py`."""
