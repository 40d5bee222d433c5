"""The meaning of a workflow: plans, runs, records and effort. Start with `semantics.py`."""
