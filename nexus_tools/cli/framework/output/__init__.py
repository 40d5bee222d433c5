"""Output for people and as JSON. Start with `output.py`."""
