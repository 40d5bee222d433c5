"""The program between the server and an untrusted program: it starts, watches, and kills it.

It runs for every call, so it imports only small modules of the standard library. Start reading at
`main.py`.
"""

__all__: list[str] = []
