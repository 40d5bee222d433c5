"""The handling of one call, independent of its transport: request, response and status."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from functools import lru_cache, partial
from typing import Protocol

from nexus_tools.sui.localnet.http import ClientGoneError, OverloadedError
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError, invalid
from nexus_tools.sui.localnet.rpc.server.endpoints import Endpoint, endpoint

_LOG = logging.getLogger(__name__)
# Source: the gRPC protocol over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md), "Requests".
_TIMEOUT = re.compile("([0-9]{1,8})([HMSmun])")
# For example, `100m` is a tenth of a second, and `2M` is two minutes.
_UNIT_SECONDS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}

Receive = Callable[[], Awaitable[bytes | None]]
"""A function that returns the next request message, or None at the end. Raises `RpcError`."""


class Reply(Protocol):
    """The response of one call, for any transport. All methods raise `ClientGoneError`."""

    async def send(self, message: bytes) -> None:
        """Send a message as soon as the client can receive it."""

    async def send_made(self, make: Callable[[], bytes]) -> None:
        """Wait until the connection has few unsent messages, and then create and send a message."""

    async def finish(self, error: RpcError | None) -> None:
        """Send the status of the call. If `error` is None, the status is success."""


async def serve_call(
    backend: Backend, path: str, headers: Mapping[str, str], receive: Receive, reply: Reply
) -> None:
    """Serve one call until it ends. Header names must be in lower case."""
    try:
        error = await _outcome(backend, path, headers, receive, reply)
        async with asyncio.timeout(backend.limits.request_seconds):
            await reply.finish(error)
    except (ClientGoneError, TimeoutError):
        _LOG.debug("the client of %s is gone", path)


def unary_call(
    backend: Backend, path: str, headers: Mapping[str, str]
) -> tuple[Endpoint, float | None] | None:
    """Return the endpoint of a unary call, and the time limit of the call in seconds.

    Returns None for other kinds of calls.
    """
    try:
        target = endpoint(backend, path)
        deadline = _deadline(target, headers)
    except RpcError:
        return None
    return None if target.unary is None or target.is_bidirectional else (target, deadline)


def unary_response(target: Endpoint, body: bytes) -> bytes | RpcError:
    """Serve a unary call. Return its response or its error."""
    try:
        return target.respond(body)
    except RpcError as error:
        return error
    except Exception:  # noqa: BLE001 - the server must not fail
        return _failed()


async def send_response(reply: Reply, response: bytes | RpcError, deadline: float | None) -> None:
    """Send the whole response of a unary call within `deadline` seconds."""
    with suppress(ClientGoneError, TimeoutError):
        async with asyncio.timeout(deadline):
            if isinstance(response, bytes):
                await reply.send(response)
            await reply.finish(None if isinstance(response, bytes) else response)


def _failed() -> RpcError:
    _LOG.exception("a call failed")
    return RpcError(Code.INTERNAL, "the localnet failed: see its log")


async def _outcome(
    backend: Backend, path: str, headers: Mapping[str, str], receive: Receive, reply: Reply
) -> RpcError | None:
    try:
        target = endpoint(backend, path)
        async with asyncio.timeout(_deadline(target, headers)):
            await _respond(target, receive, reply)
    except RpcError as error:
        return error
    except OverloadedError as error:
        return RpcError(Code.RESOURCE_EXHAUSTED, str(error))
    except TimeoutError:
        return RpcError(Code.DEADLINE_EXCEEDED, "the call took too long")
    except ClientGoneError:
        raise
    except Exception:  # noqa: BLE001 - the server must not fail
        return _failed()
    return None


async def _respond(target: Endpoint, receive: Receive, reply: Reply) -> None:
    async with asyncio.timeout(target.backend.limits.request_seconds):
        body = await receive()
    if target.is_bidirectional:
        while body is not None:
            await reply.send_made(partial(target.respond, body))
            body = await receive()
    elif body is None:
        raise invalid("the request has no message")
    elif target.unary is not None:
        await reply.send_made(partial(target.respond, body))
    else:
        async with aclosing(target.stream(body)) as messages:
            async for message in messages:
                await reply.send(message)


def _deadline(target: Endpoint, headers: Mapping[str, str]) -> float | None:
    """Return the time limit of a call in seconds, or None.

    The time limit is the smaller of the client's limit and the server's limit. An unbounded call
    has no server limit.
    """
    limit = None if target.is_unbounded else target.backend.limits.request_seconds
    if "grpc-timeout" not in headers:
        return limit
    remaining = _seconds(headers["grpc-timeout"])
    return remaining if limit is None else min(limit, remaining)


@lru_cache(maxsize=64)
def _seconds(text: str) -> float:
    match = _TIMEOUT.fullmatch(text)
    if match is None:
        raise invalid("the grpc-timeout header is not valid")
    return int(match[1]) * _UNIT_SECONDS[match[2]]
