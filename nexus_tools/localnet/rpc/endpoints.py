"""Every procedure of the interface by its path, with the function that serves it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from nexus_tools.errors import NexusError
from nexus_tools.localnet.rpc import (
    execution_service,
    forking_service,
    health_service,
    ledger_service,
    move_package_service,
    name_service,
    reflection_service,
    signature_verification_service,
    state_service,
    subscription_service,
)
from nexus_tools.localnet.rpc.backend import Backend, Streaming, Unary
from nexus_tools.localnet.rpc.messages import Message, Procedure
from nexus_tools.localnet.rpc.status import Code, RpcError, as_rpc_error, invalid

_UNARY: dict[str, Mapping[str, Unary]] = {
    "sui.rpc.v2.LedgerService": ledger_service.UNARY,
    "sui.rpc.v2.StateService": state_service.UNARY,
    "sui.rpc.v2.MovePackageService": move_package_service.UNARY,
    "sui.rpc.v2.TransactionExecutionService": execution_service.UNARY,
    "sui.rpc.v2.SignatureVerificationService": signature_verification_service.UNARY,
    "sui.rpc.v2.NameService": name_service.UNARY,
    "sui.forking.v1alpha.ForkingService": forking_service.UNARY,
    "grpc.health.v1.Health": health_service.UNARY,
    "grpc.reflection.v1.ServerReflection": reflection_service.UNARY,
    "grpc.reflection.v1alpha.ServerReflection": reflection_service.UNARY,
}
_STREAMING: dict[str, Mapping[str, Streaming]] = {
    "sui.rpc.v2.LedgerService": ledger_service.STREAMING,
    "sui.rpc.v2.SubscriptionService": subscription_service.STREAMING,
    "grpc.health.v1.Health": health_service.STREAMING,
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
    unary = _UNARY.get(service, {}).get(name)
    streaming = _STREAMING.get(service, {}).get(name)
    procedure = backend.messages.procedures.get(path)
    if procedure is None:
        raise RpcError(Code.UNIMPLEMENTED, f"there is no procedure {path[:200]!r}")
    if unary is None and streaming is None:
        raise RpcError(Code.UNIMPLEMENTED, f"this local network does not serve {service}/{name}")
    return Endpoint(backend, procedure, unary, streaming)
