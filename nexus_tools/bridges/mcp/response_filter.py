"""A filter for invalid entries in a `tools/list` response.

The SDK rejects a whole page for one invalid entry, which would also remove the valid entries.
"""

from collections.abc import Mapping
from typing import Any

from mcp.shared.dispatcher import CallOptions, Dispatcher
from mcp_types import methods
from pydantic import ValidationError

_LIST = "tools/list"


class FilteringDispatcher:
    """A dispatcher of the SDK that removes invalid entries and passes on everything else.

    `entries` are the valid tools of all pages since `clear`. `refused` lists the invalid tools by
    name, or by index if the name is missing, with reasons. `version` is the protocol version.
    """

    def __init__(self, inner: Dispatcher[Any]) -> None:
        self.version = ""
        self.entries: list[dict[str, Any]] = []
        self.refused: list[tuple[str, str]] = []
        self._inner = inner

    def clear(self) -> None:
        """Remove all recorded entries."""
        self.entries = []
        self.refused = []

    async def run(self, *arguments: Any, **named: Any) -> None:
        """Receive messages until the connection ends."""
        await self._inner.run(*arguments, **named)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Send a notification."""
        await self._inner.notify(method, params, opts)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request, and wait for its result."""
        result = await self._inner.send_raw_request(method, params, opts)
        if method == _LIST and isinstance(result.get("tools"), list):
            return {**result, "tools": self._valid_entries(result)}
        return result

    def _valid_entries(self, page: dict[str, Any]) -> list[Any]:
        entries = []
        for entry in page["tools"]:
            problem = self._problem({**page, "tools": [entry]})
            if problem:
                name = entry.get("name") if isinstance(entry, dict) else None
                index = len(self.entries) + len(self.refused) + 1
                self.refused.append((name if isinstance(name, str) else f"{index}", problem))
            else:
                entries.append(entry)
                self.entries.append(entry)
        return entries

    def _problem(self, page: dict[str, Any]) -> str:
        try:
            methods.validate_server_result(_LIST, self.version, page)
        except ValidationError as error:
            problems = [item for item in error.errors() if item["loc"][:1] == ("tools",)]
            return "; ".join(_describe_error(item) for item in problems[:5])
        return ""


def _describe_error(error: Any) -> str:
    place = "/".join(map(str, error["loc"][2:]))
    return f"{place or 'the entry'}: {error['msg']}"
