"""The service `grpc.health.v1.Health`, gRPC's standard health check."""

import asyncio
from collections.abc import AsyncGenerator

from nexus_tools.sui.localnet.rpc.backend import Backend, StreamingHandler, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import not_found
from nexus_tools.sui.rpc import Message

_SERVING = 1


def _check(backend: Backend, request: Message, response: Message) -> None:
    """Report that a service is serving or, if the name is empty, that the server is serving."""
    if request.service and request.service not in backend.messages.services:
        raise not_found("service not registered")
    response.status = _SERVING


async def _watch(
    backend: Backend, request: Message, response: type[Message]
) -> AsyncGenerator[bytes]:
    """Yield the current state once. The state does not change until the server stops."""
    message = response()
    _check(backend, request, message)
    yield message.SerializeToString()
    await asyncio.Event().wait()


UNARY: dict[str, UnaryHandler] = {"Check": _check}
STREAMING: dict[str, StreamingHandler] = {"Watch": _watch}
