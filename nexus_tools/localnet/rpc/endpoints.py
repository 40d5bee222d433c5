"""Every procedure of the interface by its path, with the function that serves it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cache
from importlib import import_module

from google.protobuf.message import DecodeError

from nexus_tools.dataclass import dataclass
from nexus_tools.errors import NexusError
from nexus_tools.localnet.rpc.backend import Backend, Streaming, Unary
from nexus_tools.localnet.rpc.messages import Message, Procedure
from nexus_tools.localnet.rpc.status import Code, RpcError, as_rpc_error, invalid

# The module that serves each service, by `UNARY` and `STREAMING`: imported when it is first called.
_MODULES = {
    "sui.rpc.v2.LedgerService": "ledger_service",
    "sui.rpc.v2.StateService": "state_service",
    "sui.rpc.v2.MovePackageService": "move_package_service",
    "sui.rpc.v2.TransactionExecutionService": "execution_service",
    "sui.rpc.v2.SignatureVerificationService": "signature_verification_service",
    "sui.rpc.v2.SubscriptionService": "subscription_service",
    "sui.rpc.v2.NameService": "name_service",
    "sui.forking.v1alpha.ForkingService": "forking_service",
    "grpc.health.v1.Health": "health_service",
    "grpc.reflection.v1.ServerReflection": "reflection_service",
    "grpc.reflection.v1alpha.ServerReflection": "reflection_service",
}
_LASTING = frozenset({"Watch", "ServerReflectionInfo"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A procedure that a client called, and what serves it; requests come and go as bytes."""

    backend: Backend
    procedure: Procedure
    unary: Unary | None
    streaming: Streaming | None

    @property
    def converses(self) -> bool:
        """Whether every message of the request is answered with one, until the client ends it."""
        return self.unary is not None and self.procedure.streaming

    @property
    def lasts(self) -> bool:
        """Whether a call goes on for as long as the client wants."""
        name = self.procedure.path.rpartition("/")[2]
        return name.startswith("Subscribe") or name in _LASTING

    def answer(self, body: bytes) -> bytes:
        """Serve a procedure with one response. Raises `RpcError`."""
        request, response = self._read(body), self.procedure.response()
        assert self.unary is not None
        try:
            self.unary(self.backend, request, response)
        except NexusError as error:
            raise as_rpc_error(error) from error
        return bytes(response.SerializeToString())

    async def stream(self, body: bytes) -> AsyncGenerator[bytes]:
        """Serve a procedure with many responses. Raises `RpcError`."""
        request = self._read(body)
        assert self.streaming is not None
        try:
            stream = self.streaming(self.backend, request, self.procedure.response)
            async with aclosing(stream) as messages:
                async for message in messages:
                    yield message.SerializeToString()
        except NexusError as error:
            raise as_rpc_error(error) from error

    def _read(self, body: bytes) -> Message:
        try:
            return self.procedure.request.FromString(body)
        except DecodeError:
            name = self.procedure.request.DESCRIPTOR.full_name
            raise invalid(f"the request is not a {name} message") from None


def endpoint(backend: Backend, path: str) -> Endpoint:
    """What serves a path. Raises `RpcError` (UNIMPLEMENTED)."""
    service, _, name = path.removeprefix("/").partition("/")
    procedure = backend.messages.procedures.get(path)
    if procedure is None:
        raise RpcError(Code.UNIMPLEMENTED, f"there is no procedure {path[:200]!r}")
    unaries, streamings = _functions(service)
    unary, streaming = unaries.get(name), streamings.get(name)
    if unary is None and streaming is None:
        raise RpcError(Code.UNIMPLEMENTED, f"this local network does not serve {service}/{name}")
    return Endpoint(backend, procedure, unary, streaming)


@cache
def _functions(service: str) -> tuple[Mapping[str, Unary], Mapping[str, Streaming]]:
    """What serves the procedures of a service that there is, by their names."""
    if service not in _MODULES:
        return {}, {}
    module = import_module(f"{__package__}.{_MODULES[service]}")
    return getattr(module, "UNARY", {}), getattr(module, "STREAMING", {})
