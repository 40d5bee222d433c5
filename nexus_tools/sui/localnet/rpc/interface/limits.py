"""The limits of the server for its clients."""

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Limits that prevent one client from blocking other clients.

    Sizes are in bytes, and times in seconds. `checkpoints_behind` is the number of checkpoints that
    the server buffers for a slow subscriber. Incomplete requests may use `connection_bytes` per
    connection, and `server_bytes` in total.
    """

    request_bytes: int = 4 * 1024 * 1024
    page_bytes: int = 512 * 1024
    http_body_bytes: int = 192 * 1024  # the largest transaction takes 171 KiB in base64
    connections: int = 256
    connection_bytes: int = 64 * 1024 * 1024
    server_bytes: int = 256 * 1024 * 1024
    calls: int = 8192  # the limit of concurrent calls on all connections
    subscriptions: int = 256
    checkpoints_behind: int = 1024
    request_seconds: float = 30.0
    idle_seconds: float = 60.0


BATCH_ITEMS = 1000
"""The maximum number of objects or transactions in one batch request."""

JSON_BYTES = 1024 * 1024
"""The largest Move value, in BCS, that is rendered as JSON (`max_json_move_value_size`)."""
