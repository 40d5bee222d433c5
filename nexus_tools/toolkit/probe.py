"""A tool under test: asks it over HTTP, within limits, and keeps what is known about it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import uuid4

import httpx

from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolDefinition, parse_json

MAX_ANSWER_BYTES = 10 * 2**20
_GET_TIMEOUT_S = 10.0
# What the network may add to the tool's own time limit.
_MARGIN_S = 5.0


class FailedError(Exception):
    """The check at hand fails, with what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SkippedError(Exception):
    """There is nothing to check: an earlier check failed, or the rule does not apply."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the tool answered, and after how many milliseconds."""

    status: int
    body: bytes
    elapsed_ms: float

    def json(self) -> Any:
        """The body; `FailedError` if it is no JSON."""
        try:
            return parse_json(self.body)
        except ValidationError as error:
            raise FailedError(f"the answer is not JSON: {error.message}") from error


@dataclass(slots=True)
class Probe:
    """The tool at the base URL `url`, and what earlier checks learned about it."""

    url: str
    http: httpx.AsyncClient
    health: Reply | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    definition: ToolDefinition | None = None

    def known_meta(self) -> Mapping[str, Any]:
        """What `/meta` said, or `SkippedError` if it said nothing usable."""
        if not self.meta:
            raise SkippedError("the definition could not be read")
        return self.meta

    def known_definition(self) -> ToolDefinition:
        """The valid definition, or `SkippedError`."""
        if self.definition is None:
            raise SkippedError("the definition is not valid")
        return self.definition

    async def get(self, path: str) -> Reply:
        """Ask for `{url}{path}`; redirects are answers like any other."""
        return await self._send("GET", path, _GET_TIMEOUT_S)

    async def invoke(self, body: bytes) -> Reply:
        """Send `body` to `/invoke`, and wait as long as the tool says that it needs."""
        timeout_s = self.known_definition().timeout_ms / 1_000 + _MARGIN_S
        key = str(uuid4())
        headers = {
            "content-type": "application/json",
            "nexus-invocation": key,
            "idempotency-key": key,
            "nexus-tool": str(self.known_definition().fqn),
        }
        return await self._send("POST", "/invoke", timeout_s, content=body, headers=headers)

    async def _send(self, method: str, path: str, timeout_s: float, **request: Any) -> Reply:
        started = perf_counter()
        try:
            async with (
                asyncio.timeout(timeout_s),
                self.http.stream(
                    method, self.url + path, timeout=timeout_s, follow_redirects=False, **request
                ) as response,
            ):
                body = await _limited(response)
        except TimeoutError as error:
            raise FailedError(f"{method} {path} took longer than {timeout_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = str(error) or type(error).__name__
            raise FailedError(
                f"{method} {path} is not answered: {problem}",
                "is the server running, and is the URL right?",
            ) from error
        return Reply(response.status_code, body, (perf_counter() - started) * 1_000)


async def _limited(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise FailedError(f"an answer is longer than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)
