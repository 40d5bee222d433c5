"""The style check of texts that people read. Start the check with `rules.py`."""
