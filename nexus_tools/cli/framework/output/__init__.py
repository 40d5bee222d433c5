"""Output for people and as JSON. Begin with `output.py`."""
