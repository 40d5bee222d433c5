"""The log and the metrics of closed invocations, with a limited number of log lines."""

import asyncio
from collections.abc import Callable

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import Closure, ClosureKind
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.units import sui
from nexus_tools.tool import Answer, Failure

_log = get_logger("nexus_tools.leader")


class ClosureLog:
    """A log of closed invocations, with at most `lines` log lines in `seconds` seconds.

    After each period of `seconds`, the number of omitted lines is logged. All closed invocations
    are counted in the metrics. `now_ms` returns the chain's time.
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
        self._line_count = 0
        self._period: asyncio.TimerHandle | None = None

    def add(self, assignment: Assignment, end: Closure) -> None:
        """Count and log an invocation of this leader that was closed."""
        self._metrics.closed.labels(end.kind.value).inc()
        self._metrics.by_tool.closed(assignment.fqn, _metric_label(end))
        if self._period is None:
            loop = asyncio.get_running_loop()
            self._period = loop.call_later(self._seconds, self._end_period)
        self._line_count += 1
        if self._line_count <= self._lines:
            _log.info(
                "closed",
                fqn=assignment.fqn,
                invocation=str(assignment.invocation),
                how=end.kind.value,
                **_log_fields(end),
                ms=max(0, self._now_ms() - assignment.opens_at_ms),
            )

    def end_period(self) -> None:
        """End the current period, and log the number of omitted lines."""
        if self._period is not None:
            self._period.cancel()
            self._end_period()

    def _end_period(self) -> None:
        left_out = max(0, self._line_count - self._lines)
        if left_out:
            _log.info("closed_lines_omitted", invocations=left_out, seconds=self._seconds)
        self._line_count, self._period = 0, None


def _metric_label(end: Closure) -> str:
    """Return the failure reason of an invocation, or else its closure kind, as a metric label.

    The label does not contain the variant of an answer, because tools choose the variants, but
    metrics need a small number of labels.
    """
    if end.kind is ClosureKind.FAILED and isinstance(end.outcome, Failure):
        return end.outcome.reason.value
    return end.kind.value


def _log_fields(end: Closure) -> dict[str, str]:
    """Return the known details of the outcome and the fee."""
    fields: dict[str, str] = {}
    if end.kind is ClosureKind.SETTLED and isinstance(end.outcome, Answer):
        fields["variant"] = end.outcome.variant
    elif end.kind is ClosureKind.FAILED and isinstance(end.outcome, Failure):
        fields["reason"] = end.outcome.reason.value
        fields["detail"] = end.outcome.detail
    if end.fee_mist is not None:
        fields["fee"] = sui(end.fee_mist)
    return fields
