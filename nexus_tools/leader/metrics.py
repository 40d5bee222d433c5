"""The Leader's Prometheus metrics, in a separate registry.

Names follow the conventions of Prometheus and OpenMetrics. Times are in seconds and amounts in MIST
(10^9 MIST are 1 SUI). Totals never decrease.
"""

from collections import Counter as Counts
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from nexus_tools.leader.chain.closure import ClosureKind

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_MAX_TOOLS = 100
OTHER_TOOLS = "other"
"""The label for the total of all tools that were not active recently."""


class LeaderMetrics:
    """The metrics of one Leader, `nexus_leader_…`."""

    def __init__(self) -> None:
        self.registry = all_of_them = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"nexus_leader_{name}", text, labels, registry=all_of_them)

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"nexus_leader_{name}", text, registry=all_of_them)

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"nexus_leader_{name}", text, registry=all_of_them, buckets=buckets)

        self.assigned = counter(
            "invocations_assigned", "Assigned invocations, by the leader's position.", "place"
        )
        self.closed = counter("invocations_closed", "Invocations closed, by result.", "how")
        for kind in ClosureKind:
            self.closed.labels(kind.value)  # `rate` ignores the first value of a new series
        self.failed = counter("invocations_failed", "Failures, by reason.", "reason")
        self.trouble = counter("errors", "Errors of the Leader itself, by component.", "where")
        self.open = gauge("invocations_open", "Pending invocations.")
        self.running = gauge("tool_calls_running", "Tool calls in progress.")
        self.node_up = gauge("node_up", "Whether the node responds and has the right chain.")
        self.node_checkpoint = gauge("node_checkpoint", "The latest checkpoint of the node.")
        self.tools_down = gauge("tools_down", "Tools that do not respond or may not be called.")
        self.lag_seconds = gauge("event_lag_seconds", "Age of the last event when it was read.")
        self.tool_call_seconds = histogram("tool_call_seconds", "Duration of tool calls.", _SECONDS)
        self.closing_seconds = histogram(
            "closing_seconds", "Duration of closing transactions.", _SECONDS
        )
        self.closing_size = histogram("closing_size", "Invocations closed per transaction.", _SIZES)
        self.transactions = gauge("closing_transactions", "Closing transactions in flight.")
        self.workers = gauge("workers", "Local keys that are workers of the leader.")
        self.fees_mist = counter("fees_mist", "Fees earned since the start.")
        self.gas_mist = gauge("gas_mist", "Gas spent since the start, minus rebates and refunds.")
        self.balance_mist = gauge("balance_mist", "Balances of the workers, including coins.")
        self.collateral_mist = gauge("collateral_mist", "Collateral of the leader.")
        self.active = gauge("active", "Whether the leader receives new invocations.")
        self.earned_mist_per_hour = gauge(
            "earned_mist_per_hour",
            "Fees minus gas in the last hour, or since a more recent start.",
        )
        self.shortfall_mist = gauge(
            "shortfall_mist", "Amount that the workers lack for the next hour."
        )
        self.fetched = counter(
            "values_fetched", "Remote values fetched, by storage and result.", "storage", "how"
        )
        self.executions = gauge("executions", "Executions that name this leader.")
        self.executions_ended = counter(
            "executions_ended", "Ended executions, by status.", "status"
        )
        self.steps = counter("steps", "Steps of executions that name this leader.", "step")
        self.step_transactions = counter(
            "step_transactions", "Transactions with steps but without closings."
        )
        self.fleet = FleetMetrics(all_of_them)
        self.by_tool = ToolCounts()
        all_of_them.register(self.by_tool)

    @property
    def earned_mist(self) -> int:
        """The fees minus gas since the start, in MIST."""
        value = self.registry.get_sample_value
        return round((value("nexus_leader_fees_mist_total") or 0) - self._gas())

    def _gas(self) -> float:
        return self.registry.get_sample_value("nexus_leader_gas_mist") or 0

    @contextmanager
    def tool_call(self, fqn: str) -> Iterator[None]:
        """Measure the duration of one tool call, and count it as running."""
        started = perf_counter()
        self.running.inc()
        try:
            yield
        finally:
            seconds = perf_counter() - started
            self.running.dec()
            self.tool_call_seconds.observe(seconds)
            self.by_tool.called(fqn, seconds)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Return the metrics and their media type, in the format that `Accept` requests."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type


class FleetMetrics:
    """The metrics of one process that shares the journal with other processes."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"nexus_leader_fleet_{name}", text, registry=registry)

        self.processes = gauge("processes", "Processes of the leader that share the journal.")
        self.owned = gauge("invocations_owned", "Open invocations that this process owns.")
        self.poisonous = gauge(
            "invocations_poisonous", "Open invocations that no process claims again."
        )
        self.holder = gauge("holder", "Whether this process reads events.")
        self.beat_age_seconds = gauge("beat_age_seconds", "Time since the lease was renewed.")


@dataclass(slots=True)
class _ToolTotals:
    closed: Counts[str] = field(default_factory=Counts)
    calls: int = 0
    seconds: float = 0.0

    def add(self, other: "_ToolTotals") -> None:
        self.closed += other.closed
        self.calls += other.calls
        self.seconds += other.seconds


class ToolCounts(Collector):
    """Counters by tool, for up to `most` tools that were active most recently.

    The number is limited because anyone can register any number of tools. The counts of an evicted
    tool are added to the label `other`, so that no sum decreases.
    """

    def __init__(self, most: int = _MAX_TOOLS) -> None:
        self._most = most
        self._totals: OrderedDict[str, _ToolTotals] = OrderedDict()
        self._other = _ToolTotals()

    def called(self, fqn: str, seconds: float) -> None:
        """Count a finished call of the tool."""
        counted = self._totals_of(fqn)
        counted.calls += 1
        counted.seconds += seconds

    def closed(self, fqn: str, outcome: str) -> None:
        """Count a closed invocation of the tool."""
        self._totals_of(fqn).closed[outcome] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the counters, with the tool as a label."""
        closed = CounterMetricFamily(
            "nexus_leader_tool_invocations_closed",
            "Invocations closed, by tool and by outcome or reason.",
            labels=("tool", "outcome"),
        )
        calls = CounterMetricFamily("nexus_leader_tool_calls", "Tool calls.", labels=("tool",))
        seconds = CounterMetricFamily(
            "nexus_leader_tool_calls_seconds", "Duration of tool calls.", labels=("tool",)
        )
        for tool, counted in [*self._totals.items(), (OTHER_TOOLS, self._other)]:
            for outcome, count in counted.closed.items():
                closed.add_metric((tool, outcome), count)
            calls.add_metric((tool,), counted.calls)
            seconds.add_metric((tool,), counted.seconds)
        yield from (closed, calls, seconds)

    def _totals_of(self, fqn: str) -> _ToolTotals:
        counted = self._totals.setdefault(fqn, _ToolTotals())
        self._totals.move_to_end(fqn)
        if len(self._totals) > self._most:
            self._other.add(self._totals.popitem(last=False)[1])
        return counted
