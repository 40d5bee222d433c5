"""Calls to a module of a bridge in a separate interpreter, which may run untrusted Python.

`client` runs in the server, and `child` runs in the separate interpreter.
"""

from nexus_tools.bridges.worker.client import (
    BAD_REPLY,
    NO_REPLY,
    WorkerError,
    WorkerReply,
    ask,
    call_worker_in_scratch,
    failure,
)

__all__ = [
    "BAD_REPLY",
    "NO_REPLY",
    "WorkerError",
    "WorkerReply",
    "ask",
    "call_worker_in_scratch",
    "failure",
]
