"""What the Leader reads from the chain, and the records that it keeps of it. Begin with `chain.py`."""
