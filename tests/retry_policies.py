"""Retry policies of clients in tests: retry at once, and wait for a node on a busy machine."""

from nexus_tools.sui.client import RetryPolicy

LIMIT_S = 100.0
QUICK = RetryPolicy(
    first_delay_s=0.001,
    max_delay_s=0.01,
    call_timeout_s=LIMIT_S,
    connect_s=LIMIT_S,
    keepalive_s=LIMIT_S,
)
