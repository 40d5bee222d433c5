"""The services of the RPC interface. The module of a service is imported at the first call."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from nexus_tools.sui.localnet.rpc.backend import StreamingHandler, UnaryHandler

__all__ = ["procedures_of"]

_MODULES = {
    "sui.rpc.v2.LedgerService": "ledger",
    "sui.rpc.v2.StateService": "state",
    "sui.rpc.v2.MovePackageService": "move_package",
    "sui.rpc.v2.TransactionExecutionService": "execution",
    "sui.rpc.v2.SignatureVerificationService": "signature_verification",
    "sui.rpc.v2.SubscriptionService": "subscription",
    "sui.rpc.v2.NameService": "name",
    "sui.forking.v1alpha.ForkingService": "forking",
    "grpc.health.v1.Health": "health",
    "grpc.reflection.v1.ServerReflection": "reflection",
    "grpc.reflection.v1alpha.ServerReflection": "reflection",
}


@cache
def procedures_of(
    service: str,
) -> tuple[Mapping[str, UnaryHandler], Mapping[str, StreamingHandler]]:
    """Return the functions for unary calls and the functions for streaming calls, by procedure."""
    if service not in _MODULES:
        return {}, {}
    module = import_module(f"{__name__}.{_MODULES[service]}")
    return getattr(module, "UNARY", {}), getattr(module, "STREAMING", {})
