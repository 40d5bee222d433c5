"""Ask a module of a bridge in an interpreter of its own, where a stranger's Python may run."""

from nexus_tools.bridges.worker.client import (
    BAD_REPLY,
    NO_REPLY,
    WorkerError,
    WorkerReply,
    ask,
    ask_in_scratch,
    failure,
)

__all__ = [
    "BAD_REPLY",
    "NO_REPLY",
    "WorkerError",
    "WorkerReply",
    "ask",
    "ask_in_scratch",
    "failure",
]
