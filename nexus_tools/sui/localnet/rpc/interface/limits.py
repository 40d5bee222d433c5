"""The limits for one client of the server."""

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Limits that prevent one client from blocking the others.

    Sizes are in bytes, times in seconds. `checkpoints_behind` is the number of checkpoints that are
    buffered for a subscriber that does not read. `connection_bytes` and `server_bytes` limit the
    memory of incomplete requests, for one connection and for all.
    """

    request_bytes: int = 4 * 1024 * 1024
    page_bytes: int = 512 * 1024
    http_body_bytes: int = 192 * 1024  # the largest transaction in base64 has 171 KiB
    connections: int = 256
    connection_bytes: int = 64 * 1024 * 1024
    server_bytes: int = 256 * 1024 * 1024
    calls: int = 8192  # at the same time, on all connections
    subscriptions: int = 256
    checkpoints_behind: int = 1024
    request_seconds: float = 30.0
    idle_seconds: float = 60.0


BATCH_ITEMS = 1000
"""The most objects or transactions that one batch request may name."""

JSON_BYTES = 1024 * 1024
"""The largest Move value, in BCS, that is rendered as JSON (`max_json_move_value_size`)."""
