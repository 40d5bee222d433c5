"""`grpc.health.v1.Health`: whether a service is up, asked in gRPC's own way."""

import asyncio
from collections.abc import AsyncGenerator

from nexus_tools.sui.localnet.rpc.backend import Backend, Streaming, Unary
from nexus_tools.sui.localnet.rpc.interface import not_found
from nexus_tools.sui.rpc import Message

_SERVING = 1


def _check(backend: Backend, request: Message, response: Message) -> None:
    """What is served is up; the empty name asks for the whole server."""
    if request.service and request.service not in backend.messages.services:
        raise not_found("service not registered")
    response.status = _SERVING


async def _watch(
    backend: Backend, request: Message, response: type[Message]
) -> AsyncGenerator[bytes]:
    """The state now; it stays so until the server stops, and the stream with it."""
    message = response()
    _check(backend, request, message)
    yield message.SerializeToString()
    await asyncio.Event().wait()


UNARY: dict[str, Unary] = {"Check": _check}
STREAMING: dict[str, Streaming] = {"Watch": _watch}
