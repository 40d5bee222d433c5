"""Cryptography that no library computes in the form that Sui's natives need.

It knows nothing of Move. Each module is imported by itself, most of them late: few programs need
any. What a library does as Sui does it is no part of this room.
"""
