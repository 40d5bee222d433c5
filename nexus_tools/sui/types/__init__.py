"""The data types of Sui: addresses, types, objects, transactions, effects and events.

Start with `address.py` and `transaction.py`.
"""
