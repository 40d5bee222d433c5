"""Transactions: drafts, simulation, execution, and failures. Start with `transactions.py`."""
