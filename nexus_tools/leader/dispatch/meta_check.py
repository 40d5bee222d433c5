"""Asks a tool for its `/meta`, once in a while, and compares it with the chain."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp

from nexus_tools.errors import ValidationError
from nexus_tools.http.guarded_client import (
    NoResponseError,
    Response,
    ResponseMalformedError,
    ResponseTooLargeError,
    exchange,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolDefinition, parse_json, protocol

MAX_META_BYTES = 256 * 1024
_TIMEOUT_SECONDS = 5.0
# What may change any moment, because the author repairs it, is not believed for long.
_DOUBT_SECONDS = 30.0
_CAPACITY = 1_024


@dataclass(slots=True)
class _Finding:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    problem: str = ""
    holds_until: float = 0.0


class MetaCheck:
    """Remembers for each version of a tool's object whether its server serves the same tool."""

    def __init__(
        self, client: aiohttp.ClientSession, lifetime_seconds: float, now: Callable[[], float]
    ) -> None:
        self._client = client
        self._lifetime = lifetime_seconds
        self._now = now
        self._findings: OrderedDict[tuple[Address, int], _Finding] = OrderedDict()

    async def problem(self, tool: Address, version: int, definition: ToolDefinition) -> str:
        """How `/meta` contradicts the chain; empty if it agrees, or if there is no telling.

        Tools that do not respond at `/meta` will show at `/invoke` whether they are there.
        """
        finding = self._finding((tool, version))
        async with finding.lock:
            if self._now() >= finding.holds_until:
                problem, lifetime = await self._ask(definition)
                finding.problem, finding.holds_until = problem, self._now() + lifetime
        return finding.problem

    def _finding(self, key: tuple[Address, int]) -> _Finding:
        finding = self._findings.setdefault(key, _Finding())
        self._findings.move_to_end(key)
        if len(self._findings) > _CAPACITY:
            self._findings.popitem(last=False)
        return finding

    async def _ask(self, definition: ToolDefinition) -> tuple[str, float]:
        """The problem, and for how many seconds that holds."""
        url = protocol.endpoint(definition.url, protocol.META)
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                response = await exchange(
                    self._client, "GET", url, max_response_bytes=MAX_META_BYTES
                )
        except (NoResponseError, TimeoutError):
            return "", _DOUBT_SECONDS
        except (ResponseTooLargeError, ResponseMalformedError):
            return f"its {protocol.META} is no definition", _DOUBT_SECONDS
        problem = _contradiction(response, definition)
        return problem, _DOUBT_SECONDS if problem or response.status != 200 else self._lifetime


def _contradiction(response: Response, definition: ToolDefinition) -> str:
    if response.status != 200:
        return ""
    try:
        served = ToolDefinition.parse(parse_json(response.body))
    except ValidationError:
        return f"its {protocol.META} is no definition"
    if served.fqn != definition.fqn:
        return f"its {protocol.META} names another tool"
    if not served.has_interface_of(definition):
        return f"its {protocol.META} has other schemas than the chain"
    return ""
