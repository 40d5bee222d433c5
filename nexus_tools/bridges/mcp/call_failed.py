"""Why a server did not give what it was asked for."""

from typing import TYPE_CHECKING, Any

from nexus_tools.bridges.sandbox import Limit
from nexus_tools.bridges.variants import error

if TYPE_CHECKING:
    from nexus_tools.bridges.mcp.link import Link


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
        return cls(f"the server did not answer within {seconds:g} s", limit=Limit.TIME)

    @classmethod
    def ended(cls, link: "Link") -> "CallFailedError":
        """The way to the server is closed."""
        return cls(link.reason, limit=link.limit, log=link.log)

    def as_output(self) -> dict[str, Any]:
        """The output `{"err": {…}}` of the tool that was called."""
        limit = None if self.limit is None else self.limit.value
        return error(self.reason, code=self.code, limit=limit, log=self.log or None)
