"""Differential tests: the localnet's Move VM and Sui's own must have the same outcomes."""
