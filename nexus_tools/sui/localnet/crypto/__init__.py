"""Cryptography that no library provides in the form that Sui's natives need.

The modules do not depend on Move. Import each one directly, and mostly late, because few programs
need any. Functions that a library provides exactly as Sui uses them are not here.
"""
