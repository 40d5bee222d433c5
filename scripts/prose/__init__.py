"""The style check: texts that people read, and the rules for them. Start with `rules.py`."""
