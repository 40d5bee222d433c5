"""Checks of the health and the definitions of tool servers, in parallel."""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING

import httpx

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.tls import shared_tls
from nexus_tools.tool import ToolDefinition, protocol
from nexus_tools.tool_server import CheckFailedError, ToolProbe

if TYPE_CHECKING:
    from nexus_tools.contracts.move_bindings.tool import Tool

_TIMEOUT_S = 3.0
_AT_ONCE = 64


async def healths(tools: "Sequence[Tool]") -> list[str]:
    """Return the problem of each tool, or an empty string for a healthy tool.

    A tool whose server has other schemas than the chain has a problem, because Leaders refuse it.
    An on-chain tool has no server and is always healthy. If this machine does not trust a
    tool's certificate, the function reports a problem, even if Leaders trust the certificate.
    """
    slots = asyncio.Semaphore(_AT_ONCE)
    async with httpx.AsyncClient(verify=shared_tls(), timeout=_TIMEOUT_S) as http:

        async def ask(tool: "Tool") -> str:
            if tool.definition.function is not None:
                return ""
            async with slots:
                url = tool.definition.url
                return await _health(http, url) or await _definition_problem(http, url, tool)

        return await asyncio.gather(*map(ask, tools))


async def _health(http: httpx.AsyncClient, url: str) -> str:
    began = perf_counter()
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            async with http.stream("GET", protocol.endpoint(url, protocol.HEALTH)) as response:
                status = response.status_code
    except TimeoutError:
        return f"does not respond within {perf_counter() - began:.0f} s"
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        return f"cannot be reached: {error or type(error).__name__}"
    return "" if status == HTTPStatus.OK else f"responds with {status}"


async def _definition_problem(http: httpx.AsyncClient, url: str, tool: "Tool") -> str:
    """Return how the served definition differs from the registered one, or an empty string.

    The result is also empty if the definition cannot be read, because Leaders ignore this.
    """
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            reply = await ToolProbe(url.rstrip("/"), http).get(protocol.META)
        if reply.status != HTTPStatus.OK:
            return ""
        served = ToolDefinition.parse(reply.json())
        registered = tool.definition.parse(check_schemas=False)
    except (CheckFailedError, TimeoutError):
        return ""
    except ValidationError:
        return "serves an invalid definition"
    if served.fqn != registered.fqn:
        return f"serves {served.fqn}"
    return (
        "" if served.has_same_interface(registered) else "serves schemas that differ from the chain"
    )
