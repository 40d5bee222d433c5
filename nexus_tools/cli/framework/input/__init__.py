"""Arguments, options and shell completion. Start with `parameters.py`."""
