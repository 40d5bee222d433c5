"""What a Leader counts, for Prometheus, in a registry of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


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
            "invocations_assigned", "Invocations of this leader, by place.", "place"
        )
        self.closed = counter("invocations_closed", "Invocations closed, by how.", "how")
        self.failed = counter("invocations_failed", "Failures found, by reason.", "reason")
        self.trouble = counter("trouble", "Trouble of the Leader's own, by where.", "where")
        self.fees_mist = counter("fees_mist", "Fees earned since the start, in MIST.")
        self.gas_mist = gauge("gas_mist", "Gas since the start less storage rebates, in MIST.")
        self.open = gauge("invocations_open", "Invocations in hand.")
        self.running = gauge("tool_calls_running", "Tool calls now.")
        self.lag_ms = gauge("event_lag_ms", "Age of the last event when it was read, in ms.")
        self.node_up = gauge("node_up", "Whether the node answers, and is of the right chain.")
        self.node_checkpoint = gauge("node_checkpoint", "The latest checkpoint of the node.")
        self.tool_call_seconds = histogram("tool_call_seconds", "Time of tool calls.", _SECONDS)
        self.closing_seconds = histogram(
            "closing_seconds", "Time of closing transactions.", _SECONDS
        )
        self.closing_size = histogram("closing_size", "Invocations closed per transaction.", _SIZES)

    @contextmanager
    def tool_call(self) -> Iterator[None]:
        """Times one tool call and counts it as running."""
        started = perf_counter()
        self.running.inc()
        try:
            yield
        finally:
            self.running.dec()
            self.tool_call_seconds.observe(perf_counter() - started)

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self.registry)
