"""The Leader's reads of the chain, and classes for their results. Start with `chain.py`."""
