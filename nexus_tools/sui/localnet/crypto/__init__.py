"""Cryptography that no library provides in the form that Sui's native functions require.

The modules do not depend on Move. Import each module directly and, in most cases, late, because few
programs use it. If a library provides a function exactly as Sui uses it, the function is not here.
"""
