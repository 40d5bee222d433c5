"""Limits for clients: requests per second, and open streams."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from math import ceil

from msgspec import Struct

from nexus_tools.index.api.problems import ProblemError

_IPV6_PREFIX = 2**64
_MAX_KEY = 64
"""The maximum length of a key, because a proxy may forward any text as an address."""


class ApiLimits(Struct, frozen=True):
    """The limits of a server. A client is an IPv4 address, or the first 64 bits of an IPv6 address.

    A client may send `burst` requests at once, and `requests_per_s` on average. `clients` bounds
    the memory for counters. Silent streams receive a comment every `heartbeat_s`, and new events
    arrive at most `poll_s` after the index contains them.
    """

    requests_per_s: float = 20.0
    burst: int = 100
    clients: int = 10_000
    streams: int = 200
    streams_per_client: int = 10
    heartbeat_s: float = 15.0
    poll_s: float = 0.5


class TokenBuckets:
    """A token bucket for each client. The least recently seen client is forgotten first."""

    def __init__(
        self,
        per_s: float,
        burst: int,
        max_clients: int,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_s = per_s
        self._burst = burst
        self._max_clients = max_clients
        self._clock_s = clock_s
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, client: str) -> None:
        """Take a token. Raise the problem `rate_limited` if the client has none."""
        now_s = self._clock_s()
        tokens, since_s = self._buckets.pop(client, (float(self._burst), now_s))
        tokens = min(self._burst, tokens + (now_s - since_s) * self._per_s)
        self._buckets[client] = (tokens - 1 if tokens >= 1 else tokens, now_s)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        if tokens < 1:
            raise _too_many("rate_limited", "too many requests", (1 - tokens) / self._per_s)


class StreamSlots:
    """The open streams, in total and for each client."""

    def __init__(self, total: int, per_client: int) -> None:
        self._total = total
        self._per_client = per_client
        self._counts: Counter[str] = Counter()

    @contextmanager
    def slot(self, client: str) -> Iterator[None]:
        """Hold a slot. Raises the problem `streams_exhausted`."""
        is_full = self._counts.total() >= self._total
        if is_full or self._counts[client] >= self._per_client:
            raise _too_many("streams_exhausted", "too many open streams", 10)
        self._counts[client] += 1
        try:
            yield
        finally:
            self._counts[client] -= 1
            self._counts += Counter()  # drop counts of zero

    def __len__(self) -> int:
        return self._counts.total()


def client_key(host: str) -> str:
    """Return the key of a client's address, so that one network is one client."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:_MAX_KEY]
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) // _IPV6_PREFIX * _IPV6_PREFIX))


def _too_many(code: str, detail: str, wait_s: float) -> ProblemError:
    return ProblemError(
        HTTPStatus.TOO_MANY_REQUESTS,
        code,
        detail,
        hint="Wait for the time in Retry-After.",
        headers={"Retry-After": str(max(1, ceil(wait_s)))},
    )
