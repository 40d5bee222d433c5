"""Ask a module of a bridge in an interpreter of its own, where a stranger's Python may run."""

from nexus_tools.bridges.worker.asking import ask
from nexus_tools.bridges.worker.failure import failure
from nexus_tools.bridges.worker.reply import BAD_REPLY, NO_REPLY, WorkerError, WorkerReply

__all__ = ["BAD_REPLY", "NO_REPLY", "WorkerError", "WorkerReply", "ask", "failure"]
