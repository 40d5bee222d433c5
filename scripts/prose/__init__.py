"""The style check of texts that people read. Start with `rules.py`."""
