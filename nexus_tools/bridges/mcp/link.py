"""The way to a server: two streams of messages, and why it ended."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.sandbox import Limit

ANSWERED_HERE = -32_099
"""The code of a JSON-RPC error that is not the server's: we answered a request in its place."""


@dataclass(slots=True)
class Link:
    """Messages from and to a server, as the SDK's `Transport` has them, until `closed` is set.

    `log` is the end of what the server printed. Made within the event loop that uses it.
    """

    read: Any
    write: Any
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    reason: str = "the connection to the server ended"
    limit: Limit | None = None
    log: str = ""

    def close(self, reason: str, limit: Limit | None = None) -> None:
        """Say once and for all that it ended, and why."""
        if not self.closed.is_set():
            self.reason = reason
            self.limit = limit
            self.closed.set()
