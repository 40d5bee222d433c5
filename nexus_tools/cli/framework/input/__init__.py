"""Arguments, options and shell completion. Start reading in `parameters.py`."""
