"""Coins, address balances and gas. Begin with `coin_pool.py`."""
