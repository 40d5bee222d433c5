"""The `err` variant of a call that a worker could not answer."""

from typing import Any

import structlog

from nexus_tools.bridges.variants import error
from nexus_tools.bridges.worker.reply import BAD_REPLY, NO_REPLY, WorkerReply

_log = structlog.get_logger("nexus_tools.bridges")


def failure(reply: WorkerReply, tool: object) -> dict[str, Any]:
    """What `reply.error` becomes: the exception's class and text, or how the process ended.

    The traceback names the operator's folders, and outcomes may be public: it stays in the log of
    the server, under the name of the `tool`.
    """
    raised = reply.error
    assert raised is not None
    if raised.type in (NO_REPLY, BAD_REPLY):
        return error(raised.message, finished=reply.finished)
    _log.info("tool_raised", tool=str(tool), type=raised.type, traceback=raised.traceback)
    log = reply.finished.log() or None
    return error(raised.message or raised.type, type=raised.type, log=log)
