"""Writes what a tool says into the log of the server, while it runs."""

from typing import Any

import structlog

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.unstract.message import (
    Cost,
    Log,
    LogLevel,
    Message,
    Result,
    SingleStepMessage,
    Update,
)

MAX_LINES = 1_000

_log = structlog.get_logger("nexus_tools.bridges.unstract")

_METHODS = {
    LogLevel.DEBUG: "debug",
    LogLevel.INFO: "info",
    LogLevel.WARN: "warning",
    LogLevel.ERROR: "error",
    LogLevel.FATAL: "error",
}


class RunningLog:
    """The log of one run of one tool; texts are masked, results are not written.

    After `MAX_LINES` lines it says so, and falls silent.
    """

    def __init__(self, tool: str, redaction: Redaction) -> None:
        self._log = _log.bind(tool=tool)
        self._redaction = redaction
        self._lines = 0

    def write(self, message: Message) -> None:
        """Write one message: a LOG at its level, what shows people the data at hand as debug."""
        match message:
            case Log(level, log, stage):
                self._say(_METHODS[level], "tool_log", log=log, stage=stage)
            case Cost(cost, cost_units):
                self._say("info", "tool_cost", cost=cost, cost_units=cost_units)
            case SingleStepMessage(text):
                self._say("debug", "tool_message", message=text)
            case Update(state, text):
                self._say("debug", "tool_update", state=state, message=text)
            case Result(_, workflow_id, elapsed_s):
                self._say("info", "tool_result", workflow_id=workflow_id, elapsed_s=elapsed_s)

    def _say(self, method: str, event: str, **values: Any) -> None:
        self._lines += 1
        if self._lines <= MAX_LINES:
            getattr(self._log, method)(event, **self._redaction.value(values))
        elif self._lines == MAX_LINES + 1:
            self._log.warning("tool_log_cut", lines=MAX_LINES)
