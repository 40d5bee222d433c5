"""The meaning of a workflow: plans, runs, records and effort. Begin with `semantics.py`."""
