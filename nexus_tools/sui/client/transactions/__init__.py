"""Transactions: drafts, simulation, execution, and failures. Begin with `transactions.py`."""
