"""The procedures of the interface by path, with the functions that serve them."""

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
    """A procedure and the function that serves it. Requests and responses are bytes."""

    backend: Backend
    procedure: Procedure
    unary: UnaryHandler | None
    streaming: StreamingHandler | None

    @property
    def is_bidirectional(self) -> bool:
        """Whether each request message gets one response, until the client ends the call."""
        return self.unary is not None and self.procedure.streaming

    @property
    def is_unbounded(self) -> bool:
        """Whether a call lasts as long as the client wants."""
        name = self.procedure.path.rpartition("/")[2]
        return name.startswith("Subscribe") or name in _UNBOUNDED

    def respond(self, body: bytes) -> bytes:
        """Serve a procedure with one response.

        Raises:
            RpcError: the call fails.
        """
        request, response = self._read(body), self.procedure.response()
        assert self.unary is not None
        try:
            self.unary(self.backend, request, response)
        except NexusError as error:
            raise as_rpc_error(error) from error
        return bytes(response.SerializeToString())

    async def stream(self, body: bytes) -> AsyncGenerator[bytes]:
        """Serve a procedure with many responses.

        Raises:
            RpcError: the call fails.
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
    """Return whether a path is served message by message, before the request has ended."""
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
        raise RpcError(Code.UNIMPLEMENTED, f"this local network does not serve {service}/{name}")
    return Endpoint(backend, procedure, unary, streaming)
