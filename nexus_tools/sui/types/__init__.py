"""The data of Sui: addresses, types, objects, transactions, effects and events.

Begin with `address.py` and `transaction.py`.
"""
