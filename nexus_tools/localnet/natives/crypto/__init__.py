"""Cryptography that no library has in the form in which Sui's natives need it."""
