"""The localnet's Move machine beside the genuine one: the same calls, the same outcomes."""
