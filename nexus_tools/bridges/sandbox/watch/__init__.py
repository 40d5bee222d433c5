"""The watch program, which starts an untrusted program, watches it, and kills its processes.

The watch runs for every call, so it imports only small modules of the standard library. Start
reading at `main.py`.
"""

__all__: list[str] = []
