"""Coins, address balances and gas. Start with `coin_pool.py`."""
