"""The periodic comparison of a tool's `/meta` with its definition on chain."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp
from cachetools import LRUCache

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
# Repeat the check soon after a mismatch, because the author may fix the server at any time.
_RECHECK_SECONDS = 30.0
_CAPACITY = 1_024


@dataclass(slots=True)
class _CachedResult:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    problem: str = ""
    holds_until: float = 0.0


class MetaCheck:
    """A cache of comparisons of the served definitions of tools with their on-chain definitions.

    The cache has an entry for each version of a tool's object.
    """

    def __init__(
        self, client: aiohttp.ClientSession, lifetime_seconds: float, now: Callable[[], float]
    ) -> None:
        self._client = client
        self._lifetime = lifetime_seconds
        self._now = now
        self._results: LRUCache[tuple[Address, int], _CachedResult] = LRUCache(_CAPACITY)

    async def problem(self, tool: Address, version: int, definition: ToolDefinition) -> str:
        """Return how `/meta` differs from the on-chain definition, or an empty string.

        The result is also empty if `/meta` does not respond, because the following call of
        `/invoke` shows whether the tool is reachable.
        """
        finding = self._results.setdefault((tool, version), _CachedResult())
        async with finding.lock:
            if self._now() >= finding.holds_until:
                problem, lifetime = await self._fetch(definition)
                finding.problem, finding.holds_until = problem, self._now() + lifetime
        return finding.problem

    async def _fetch(self, definition: ToolDefinition) -> tuple[str, float]:
        """Return the mismatch or an empty string, and the seconds for which the result is valid."""
        url = protocol.endpoint(definition.url, protocol.META)
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                response = await exchange(
                    self._client, "GET", url, max_response_bytes=MAX_META_BYTES
                )
        except (NoResponseError, TimeoutError):
            return "", _RECHECK_SECONDS
        except (ResponseTooLargeError, ResponseMalformedError):
            return f"the tool's {protocol.META} is not a valid definition", _RECHECK_SECONDS
        problem = _mismatch(response, definition)
        return problem, _RECHECK_SECONDS if problem or response.status != 200 else self._lifetime


def _mismatch(response: Response, definition: ToolDefinition) -> str:
    if response.status != 200:
        return ""
    try:
        served_definition = ToolDefinition.parse(parse_json(response.body))
    except ValidationError:
        return f"the tool's {protocol.META} is not a valid definition"
    if served_definition.fqn != definition.fqn:
        return f"the tool's {protocol.META} names a different tool"
    if not served_definition.has_same_interface(definition):
        return f"the tool's {protocol.META} and the chain have different schemas"
    return ""
