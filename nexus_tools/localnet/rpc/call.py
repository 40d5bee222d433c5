"""One call, whatever carries it: read what it asks, serve it, and say how that ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from grpclib.metadata import Deadline

from nexus_tools.localnet.rpc.backend import Backend
from nexus_tools.localnet.rpc.endpoints import Endpoint, endpoint
from nexus_tools.localnet.rpc.status import Code, RpcError, invalid

_LOG = logging.getLogger(__name__)
_TIMEOUT_CHARACTERS = 9  # eight digits and a unit

Receive = Callable[[], Awaitable[bytes | None]]
"""Gives the next message of the request; None when there are no more. Raises `RpcError`."""


class ClientGoneError(Exception):
    """Nobody is there any more who could be answered."""


class Reply(Protocol):
    """The response of one call, in the form of a transport. Raises `ClientGoneError`."""

    async def send(self, message: bytes) -> None:
        """Send a message, when the client has room for it."""

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


async def _outcome(
    backend: Backend, path: str, headers: Mapping[str, str], receive: Receive, reply: Reply
) -> RpcError | None:
    try:
        found = endpoint(backend, path)
        async with asyncio.timeout(_patience(backend, found, headers)):
            await _answer(found, receive, reply)
    except RpcError as error:
        return error
    except TimeoutError:
        return RpcError(Code.DEADLINE_EXCEEDED, "the call took too long")
    except ClientGoneError:
        raise
    except Exception:  # noqa: BLE001 - the edge of the server
        _LOG.exception("a call failed")
        return RpcError(Code.INTERNAL, "the local network failed; its log says why")
    return None


async def _answer(found: Endpoint, receive: Receive, reply: Reply) -> None:
    body = await receive()
    if found.converses:
        while body is not None:
            await reply.send(found.answer(body))
            body = await receive()
    elif body is None:
        raise invalid("the request has no message")
    elif found.unary is not None:
        await reply.send(found.answer(body))
    else:
        async with aclosing(found.stream(body)) as messages:
            async for message in messages:
                await reply.send(message)


def _patience(backend: Backend, found: Endpoint, headers: Mapping[str, str]) -> float | None:
    """Seconds that a call may take: the client's deadline, and ours but for what lasts."""
    own = None if found.lasts else backend.limits.request_seconds
    if "grpc-timeout" not in headers:
        return own
    left = _deadline(headers["grpc-timeout"]).time_remaining()
    return left if own is None else min(own, left)


def _deadline(text: str) -> Deadline:
    try:
        deadline = Deadline.from_headers([("grpc-timeout", text)])
    except ValueError:
        deadline = None
    if deadline is None or len(text) > _TIMEOUT_CHARACTERS:
        raise invalid("the header grpc-timeout is not valid")
    return deadline
