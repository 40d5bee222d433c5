"""The headers of every response: the network, its latest checkpoint, and CORS.

Like a full node (`sui-node/src/lib.rs`), the server allows any origin to send any header. The
server treats every OPTIONS request as a preflight. `AllowedSources` has already checked whether the
web page may send requests. Responses expose all headers to web pages, because the headers of a
response without a message contain its gRPC status. Sources: `sui-rpc-api/src/{response,types}.rs`;
the Fetch standard, "CORS protocol".
"""

from datetime import UTC, datetime
from functools import lru_cache

from nexus_tools.sui.localnet.http import Headers
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.digest import Digest

CHAIN_NAME = "localnet"
SERVER_NAME = "nexus-tools-localnet"

_VARY = ("vary", "origin, access-control-request-method, access-control-request-headers")
_ANY_ORIGIN = ("access-control-allow-origin", "*")

CORS: Headers = (_ANY_ORIGIN, ("access-control-expose-headers", "*"), _VARY)
"""The headers that allow a web page to read a response.

Responses to native gRPC do not have these headers.
"""

PREFLIGHT: Headers = (
    _ANY_ORIGIN,
    ("access-control-allow-methods", "GET,POST"),
    ("access-control-allow-headers", "*"),
    _VARY,
)
"""The response to every preflight request of a browser."""

_LAST_MS = 253_402_300_799_999  # the end of the year 9999, the latest year of `datetime`


def info_headers(node: Node) -> Headers:
    """Return the headers with the network and its latest checkpoint."""
    latest = node.ledger.latest.summary
    return _headers(
        _base58(node.chain_id), latest.epoch, latest.sequence_number, latest.timestamp_ms
    )


@lru_cache(maxsize=16)
def _base58(digest: Digest) -> str:
    return str(digest)


@lru_cache(maxsize=16)
def _headers(chain: str, epoch: int, height: int, timestamp_ms: int) -> Headers:
    return (
        ("x-sui-chain-id", chain),
        ("x-sui-chain", CHAIN_NAME),
        ("x-sui-epoch", str(epoch)),
        ("x-sui-checkpoint-height", str(height)),
        ("x-sui-timestamp-ms", str(timestamp_ms)),
        ("x-sui-timestamp", _rfc3339(timestamp_ms)),
        ("x-sui-lowest-available-checkpoint", "0"),
        ("x-sui-lowest-available-checkpoint-objects", "0"),
        ("server", SERVER_NAME),
    )


def _rfc3339(timestamp_ms: int) -> str:
    second, millisecond = divmod(min(timestamp_ms, _LAST_MS), 1000)
    return f"{_calendar(second)}.{millisecond:03}Z" if millisecond else f"{_calendar(second)}Z"


@lru_cache(maxsize=4)
def _calendar(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat().removesuffix("+00:00")
