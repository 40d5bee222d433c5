"""Arguments, options and shell completion. Begin with `parameters.py`."""
