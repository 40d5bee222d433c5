"""The way to a server: two streams of messages, why it ended, and why a request has no result."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.sandbox import Limit
from nexus_tools.bridges.schemas.variants import error

RESPONDED_HERE = -32_099
"""The code of a JSON-RPC error that is not the server's: we responded in its place."""


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


class CallFailedError(Exception):
    """A request that has no result; `reason` is a sentence for people.

    `code` is that of a JSON-RPC error, `limit` the bound for which the server was stopped, `log`
    the end of what it printed.
    """

    def __init__(
        self, reason: str, *, code: int | None = None, limit: Limit | None = None, log: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.limit = limit
        self.log = log

    @classmethod
    def late(cls, seconds: float) -> "CallFailedError":
        """The server took too long."""
        return cls(f"the server did not respond within {seconds:g} s", limit=Limit.TIME)

    @classmethod
    def ended(cls, link: Link) -> "CallFailedError":
        """The way to the server is closed."""
        return cls(link.reason, limit=link.limit, log=link.log)

    def as_output(self, *, is_shared: bool) -> dict[str, Any]:
        """The output `{"err": {…}}` of the tool that was called.

        What a server printed that others called as well may be theirs, and is kept back.
        """
        limit = None if self.limit is None else self.limit.value
        log = None if is_shared else self.log or None
        return error(self.reason, code=self.code, limit=limit, log=log)
