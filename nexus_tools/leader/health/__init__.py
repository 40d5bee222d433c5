"""Health and heartbeat of the Leader. Begin with `health.py`."""
