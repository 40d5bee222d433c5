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
        self.registry = CollectorRegistry()
        self.seen = Counter(
            "nexus_leader_invocations_seen",
            "Invocations that this leader is responsible for.",
            ["place"],
            registry=self.registry,
        )
        self.closed = Counter(
            "nexus_leader_invocations_closed",
            "Invocations that ended, by how.",
            ["how"],
            registry=self.registry,
        )
        self.failed = Counter(
            "nexus_leader_invocations_failed",
            "Failures that were found, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self.open = Gauge(
            "nexus_leader_invocations_open", "Invocations in hand.", registry=self.registry
        )
        self.running = Gauge(
            "nexus_leader_requests_running", "Requests to tools now.", registry=self.registry
        )
        self.request_seconds = Histogram(
            "nexus_leader_request_seconds",
            "Time of requests to tools.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.settlement_seconds = Histogram(
            "nexus_leader_settlement_seconds",
            "Time of settling transactions.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.settlement_size = Histogram(
            "nexus_leader_settlement_size",
            "Invocations closed per transaction.",
            buckets=_SIZES,
            registry=self.registry,
        )
        self.trouble = Counter(
            "nexus_leader_trouble",
            "Trouble of the Leader's own, by where.",
            ["where"],
            registry=self.registry,
        )
        self.fees_mist = Counter(
            "nexus_leader_fees_mist",
            "Fees earned since the start, in MIST.",
            registry=self.registry,
        )
        self.gas_mist = Gauge(
            "nexus_leader_gas_mist",
            "Gas spent since the start, less storage rebates, in MIST.",
            registry=self.registry,
        )
        self.lag_ms = Gauge(
            "nexus_leader_event_lag_ms",
            "Age of the last request when it was read, by the chain's clock.",
            registry=self.registry,
        )

    @contextmanager
    def request(self) -> Iterator[None]:
        """Times one request to a tool and counts it as running."""
        started = perf_counter()
        self.running.inc()
        try:
            yield
        finally:
            self.running.dec()
            self.request_seconds.observe(perf_counter() - started)

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self.registry)
