"""Health and heartbeat of the Leader. Start with `health_server.py`."""
