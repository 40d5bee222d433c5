"""Takes the entries out of a `tools/list` that the protocol does not allow, one by one.

The SDK refuses a whole page for one of them, which would take the others with it.
"""

from collections.abc import Mapping
from typing import Any

from mcp.shared.dispatcher import CallOptions, Dispatcher
from mcp_types import methods
from pydantic import ValidationError

_LIST = "tools/list"


class SiftingDispatcher:
    """A dispatcher of the SDK that passes everything on, but entries that are none.

    `entries` are the tools as they stood in the pages since `clear`; `refused` the others: the
    name, or the place where there is none, and the reason. `version` is the protocol's.
    """

    def __init__(self, inner: Dispatcher[Any]) -> None:
        self.version = ""
        self.entries: list[dict[str, Any]] = []
        self.refused: list[tuple[str, str]] = []
        self._inner = inner

    def clear(self) -> None:
        """Forget what was listed."""
        self.entries = []
        self.refused = []

    async def run(self, *arguments: Any, **named: Any) -> None:
        """Receive until the connection ends."""
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
            return {**result, "tools": self._sifted(result)}
        return result

    def _sifted(self, page: dict[str, Any]) -> list[Any]:
        kept = []
        for entry in page["tools"]:
            problem = self._problem({**page, "tools": [entry]})
            if problem:
                name = entry.get("name") if isinstance(entry, dict) else None
                number = len(self.entries) + len(self.refused) + 1
                self.refused.append((name if isinstance(name, str) else f"{number}", problem))
            else:
                kept.append(entry)
                self.entries.append(entry)
        return kept

    def _problem(self, page: dict[str, Any]) -> str:
        try:
            methods.validate_server_result(_LIST, self.version, page)
        except ValidationError as error:
            wrong = [each for each in error.errors() if each["loc"][:1] == ("tools",)]
            return "; ".join(_in_words(each) for each in wrong[:5])
        return ""


def _in_words(error: Any) -> str:
    place = "/".join(map(str, error["loc"][2:]))
    return f"{place or 'the entry'}: {error['msg']}"
