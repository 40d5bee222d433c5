"""Tells of every invocation that is closed: it is counted, and the log has a line for it."""

import asyncio
from collections.abc import Callable

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closed, End
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import sui
from nexus_tools.tool import Answer, Failure

_log = get_logger("nexus_tools.leader")


class ClosedInvocations:
    """Counts all, and logs `lines` of them in a period of `seconds` and how many it left out.

    `now_ms` is the chain's time.
    """

    def __init__(
        self,
        metrics: LeaderMetrics,
        now_ms: Callable[[], int],
        *,
        lines: int,
        seconds: float = 1.0,
    ) -> None:
        self._metrics = metrics
        self._now_ms = now_ms
        self._lines = lines
        self._seconds = seconds
        self._told = 0
        self._period: asyncio.TimerHandle | None = None

    def note(self, assignment: Assignment, end: End) -> None:
        """An invocation of this leader was closed."""
        self._metrics.closed.labels(end.closed.value).inc()
        self._metrics.by_tool.closed(assignment.fqn, _in_a_word(end))
        if self._period is None:
            loop = asyncio.get_running_loop()
            self._period = loop.call_later(self._seconds, self._end_period)
        self._told += 1
        if self._told <= self._lines:
            _log.info(
                "closed",
                fqn=assignment.fqn,
                invocation=str(assignment.invocation),
                how=end.closed.value,
                **_in_words(end),
                ms=max(0, self._now_ms() - assignment.opens_at_ms),
            )

    def end(self) -> None:
        """Tell what is left to tell."""
        if self._period is not None:
            self._period.cancel()
            self._end_period()

    def _end_period(self) -> None:
        left_out = max(0, self._told - self._lines)
        if left_out:
            _log.info("closed_left_out", invocations=left_out, seconds=self._seconds)
        self._told, self._period = 0, None


def _in_a_word(end: End) -> str:
    """Why it failed, or else how it was closed: variants are a stranger's words, without end."""
    if end.closed is Closed.FAILED and isinstance(end.outcome, Failure):
        return end.outcome.reason.value
    return end.closed.value


def _in_words(end: End) -> dict[str, str]:
    """What is known of outcome and fee."""
    words: dict[str, str] = {}
    if end.closed is Closed.SETTLED and isinstance(end.outcome, Answer):
        words["variant"] = end.outcome.variant
    elif end.closed is Closed.FAILED and isinstance(end.outcome, Failure):
        words["reason"] = end.outcome.reason.value
        words["detail"] = end.outcome.detail
    if end.fee_mist is not None:
        words["fee"] = sui(end.fee_mist)
    return words
