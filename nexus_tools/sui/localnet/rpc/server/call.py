"""One call, whatever carries it: read what it asks, serve it, and say how that ended."""

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
# `100m` is a tenth of a second, `2M` two minutes.
_UNIT_SECONDS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}

Receive = Callable[[], Awaitable[bytes | None]]
"""Gives the next message of the request; None when there are no more. Raises `RpcError`."""


class Reply(Protocol):
    """The response of one call, in the form of a transport. Raises `ClientGoneError`."""

    async def send(self, message: bytes) -> None:
        """Send a message, when the client has room for it."""

    async def send_made(self, make: Callable[[], bytes]) -> None:
        """Make a message, when not too many wait for the client, and send it."""

    async def finish(self, error: RpcError | None) -> None:
        """Send how the call ended; None is a success."""


async def serve_call(
    backend: Backend, path: str, headers: Mapping[str, str], receive: Receive, reply: Reply
) -> None:
    """Serve one call to its end. The names of headers are in lower case."""
    try:
        error = await _outcome(backend, path, headers, receive, reply)
        async with asyncio.timeout(backend.limits.request_seconds):
            await reply.finish(error)
    except (ClientGoneError, TimeoutError):
        _LOG.debug("the client of %s is gone", path)


def short_call(
    backend: Backend, path: str, headers: Mapping[str, str]
) -> tuple[Endpoint, float | None] | None:
    """What serves a call of which one message gets one response, and the seconds it may take.

    None if there is no such.
    """
    try:
        found = endpoint(backend, path)
        deadline = _deadline(found, headers)
    except RpcError:
        return None
    return None if found.unary is None or found.is_bidirectional else (found, deadline)


def short_response(found: Endpoint, body: bytes) -> bytes | RpcError:
    """The response of a short call, or what it ends with instead."""
    try:
        return found.respond(body)
    except RpcError as error:
        return error
    except Exception:  # noqa: BLE001 - the edge of the server
        return _failed()


async def send_response(reply: Reply, response: bytes | RpcError, deadline: float | None) -> None:
    """Send the whole response of a short call, in so many seconds."""
    with suppress(ClientGoneError, TimeoutError):
        async with asyncio.timeout(deadline):
            if isinstance(response, bytes):
                await reply.send(response)
            await reply.finish(None if isinstance(response, bytes) else response)


def _failed() -> RpcError:
    _LOG.exception("a call failed")
    return RpcError(Code.INTERNAL, "the local network failed; its log says why")


async def _outcome(
    backend: Backend, path: str, headers: Mapping[str, str], receive: Receive, reply: Reply
) -> RpcError | None:
    try:
        found = endpoint(backend, path)
        async with asyncio.timeout(_deadline(found, headers)):
            await _respond(found, receive, reply)
    except RpcError as error:
        return error
    except OverloadedError as error:
        return RpcError(Code.RESOURCE_EXHAUSTED, str(error))
    except TimeoutError:
        return RpcError(Code.DEADLINE_EXCEEDED, "the call took too long")
    except ClientGoneError:
        raise
    except Exception:  # noqa: BLE001 - the edge of the server
        return _failed()
    return None


async def _respond(found: Endpoint, receive: Receive, reply: Reply) -> None:
    async with asyncio.timeout(found.backend.limits.request_seconds):
        body = await receive()
    if found.is_bidirectional:
        while body is not None:
            await reply.send_made(partial(found.respond, body))
            body = await receive()
    elif body is None:
        raise invalid("the request has no message")
    elif found.unary is not None:
        await reply.send_made(partial(found.respond, body))
    else:
        async with aclosing(found.stream(body)) as messages:
            async for message in messages:
                await reply.send(message)


def _deadline(found: Endpoint, headers: Mapping[str, str]) -> float | None:
    """Seconds that a call may take: the client's deadline, and ours but for what lasts."""
    own = None if found.is_unbounded else found.backend.limits.request_seconds
    if "grpc-timeout" not in headers:
        return own
    left = _seconds(headers["grpc-timeout"])
    return left if own is None else min(own, left)


@lru_cache(maxsize=64)
def _seconds(text: str) -> float:
    found = _TIMEOUT.fullmatch(text)
    if found is None:
        raise invalid("the header grpc-timeout is not valid")
    return int(found[1]) * _UNIT_SECONDS[found[2]]
