"""Output of commands as text and as JSON. Start reading in `output.py`."""
