"""The link to a server: two message streams, the reason of its end, and failures of requests."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from nexus_tools.bridges.sandbox import Limit
from nexus_tools.bridges.schemas.variants import error

LOCAL_ERROR_CODE = -32_099
"""The code of a JSON-RPC error that the bridge created, because the server did not respond."""


@dataclass(slots=True)
class Link:
    """The message streams from and to a server, as in the SDK's `Transport`, until `closed` is set.

    `log` is the end of the server's output. Create the link within the event loop that uses it.
    """

    read: Any
    write: Any
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    reason: str = "the connection to the server ended"
    limit: Limit | None = None
    log: str = ""

    def close(self, reason: str, limit: Limit | None = None) -> None:
        """Record the end of the link and its reason. Later calls have no effect."""
        if not self.closed.is_set():
            self.reason = reason
            self.limit = limit
            self.closed.set()


class CallFailedError(Exception):
    """The error of a request without a result. `reason` is a sentence for users.

    `code` is the code of a JSON-RPC error. `limit` is the limit that stopped the server, and `log`
    is the end of its output.
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
        """Return the error for a server that did not respond in time."""
        return cls(f"the server did not respond within {seconds:g} s", limit=Limit.TIME)

    @classmethod
    def ended(cls, link: Link) -> "CallFailedError":
        """Return the error for a closed link."""
        return cls(link.reason, limit=link.limit, log=link.log)

    def as_output(self, *, is_shared: bool) -> dict[str, Any]:
        """Return the output `{"err": {…}}` of the tool that was called.

        The log of a server that other callers share may contain their data, so it is omitted.
        """
        limit = None if self.limit is None else self.limit.value
        log = None if is_shared else self.log or None
        return error(self.reason, code=self.code, limit=limit, log=log)
