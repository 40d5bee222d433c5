"""Endpoints: the procedures of the RPC interface by path, and the functions that serve them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from google.protobuf.message import DecodeError
from msgspec import Struct

from nexus_tools.sui.errors import NexusError
from nexus_tools.sui.localnet.rpc.backend import Backend, StreamingHandler, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import Code, RpcError, as_rpc_error, invalid
from nexus_tools.sui.localnet.rpc.services import procedures_of
from nexus_tools.sui.rpc import Message, Procedure

_UNBOUNDED = frozenset({"Watch", "ServerReflectionInfo"})


class Endpoint(Struct, frozen=True):
    """A procedure and the function that serves it."""

    backend: Backend
    procedure: Procedure
    unary: UnaryHandler | None
    streaming: StreamingHandler | None

    @property
    def is_bidirectional(self) -> bool:
        """Whether a call may have many request messages.

        The server sends one response for each request message.
        """
        return self.unary is not None and self.procedure.streaming

    @property
    def is_unbounded(self) -> bool:
        """Whether the server does not limit the time of a call."""
        name = self.procedure.path.rpartition("/")[2]
        return name.startswith("Subscribe") or name in _UNBOUNDED

    def respond(self, body: bytes) -> bytes:
        """Serve a request of a procedure with one response. Request and response are bytes.

        Raises:
            RpcError: The call fails.
        """
        request, response = self._read(body), self.procedure.response()
        assert self.unary is not None
        try:
            self.unary(self.backend, request, response)
        except NexusError as error:
            raise as_rpc_error(error) from error
        return bytes(response.SerializeToString())

    async def stream(self, body: bytes) -> AsyncGenerator[bytes]:
        """Serve a request of a procedure with many responses. All messages are bytes.

        Raises:
            RpcError: The call fails.
        """
        request = self._read(body)
        assert self.streaming is not None
        try:
            stream = self.streaming(self.backend, request, self.procedure.response)
            async with aclosing(stream) as messages:
                async for message in messages:
                    yield message
        except NexusError as error:
            raise as_rpc_error(error) from error

    def _read(self, body: bytes) -> Message:
        try:
            return self.procedure.request.FromString(body)
        except DecodeError:
            name = self.procedure.request.DESCRIPTOR.full_name
            raise invalid(f"the request is not a {name} message") from None


def is_bidirectional_path(backend: Backend, path: str) -> bool:
    """Return whether the procedure at a path is bidirectional.

    A bidirectional procedure starts before the request body is complete.
    """
    try:
        return endpoint(backend, path).is_bidirectional
    except RpcError:
        return False


def endpoint(backend: Backend, path: str) -> Endpoint:
    """Return the endpoint of a path.

    Raises:
        RpcError: UNIMPLEMENTED.
    """
    service, _, name = path.removeprefix("/").partition("/")
    procedure = backend.messages.procedures.get(path)
    if procedure is None:
        raise RpcError(Code.UNIMPLEMENTED, f"the procedure {path[:200]!r} does not exist")
    unaries, streamings = procedures_of(service)
    unary, streaming = unaries.get(name), streamings.get(name)
    if unary is None and streaming is None:
        raise RpcError(Code.UNIMPLEMENTED, f"this localnet does not serve {service}/{name}")
    return Endpoint(backend, procedure, unary, streaming)
