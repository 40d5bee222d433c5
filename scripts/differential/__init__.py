"""Differential tests: the localnet's Move VM and Sui's own VM must have the same outcomes."""
