"""The program between the server and a stranger's: starts it, watches it, ends all of it.

It runs for every call, so it imports little: the standard library's small modules only.
"""

__all__: list[str] = []
