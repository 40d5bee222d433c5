"""What a failed remote call means to a user."""

from collections.abc import Callable

from grpclib.const import Status
from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError

from nexus_tools.client.connection import UnsupportedByNodeError
from nexus_tools.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
)

CALL_ERRORS = (GRPCError, StreamTerminatedError, ProtocolError, OSError, TimeoutError)
"""What grpclib raises when a call fails."""

_TRANSIENT = (Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.RESOURCE_EXHAUSTED)


def is_transient(error: Exception) -> bool:
    """Whether the same call may succeed in a moment."""
    return not isinstance(error, GRPCError) or error.status in _TRANSIENT


def explain(error: Exception, url: str) -> NexusError:
    """The error of a call to the node at `url`, in words."""
    if not isinstance(error, GRPCError):
        return _unreachable(url, str(error) or type(error).__name__)
    return _BY_STATUS.get(error.status, _refused)(url, error)


def _unreachable(url: str, reason: str) -> NexusError:
    return UnreachableError(
        "node_unreachable",
        f"the node at {url} does not answer: {reason}",
        hint="check the network's URL and your connection; a localnet has to be started",
        details={"url": url},
    )


def _busy(url: str, error: GRPCError) -> NexusError:
    return UnreachableError(
        "node_busy",
        f"the node at {url} answers no more requests for now: {error.message}",
        hint="wait a little, or use another node",
        details=_details(error),
    )


def _not_found(_: str, error: GRPCError) -> NexusError:
    return NotFoundError("not_found", error.message or "not found", details=_details(error))


def _unsupported(url: str, error: GRPCError) -> NexusError:
    return UnsupportedByNodeError(
        "node_unsupported",
        f"the node at {url} does not support this: {error.message}",
        hint="use another node",
        details=_details(error),
    )


def _not_allowed(url: str, error: GRPCError) -> NexusError:
    return NotAllowedError(
        "node_refused_access",
        f"the node at {url} refuses access: {error.message}",
        hint="check whether the provider asks for a key in the URL",
        details=_details(error),
    )


def _refused(_: str, error: GRPCError) -> NexusError:
    return RefusedOnChainError(
        "refused_by_node",
        f"the node refuses the request: {error.message}",
        details=_details(error),
    )


def _details(error: GRPCError) -> dict[str, str]:
    return {"grpc_status": error.status.name}


_BY_STATUS: dict[Status, Callable[[str, GRPCError], NexusError]] = {
    Status.UNAVAILABLE: lambda url, error: _unreachable(url, error.message or "unavailable"),
    Status.DEADLINE_EXCEEDED: lambda url, _: _unreachable(url, "it took too long"),
    Status.CANCELLED: lambda url, _: _unreachable(url, "it broke the connection"),
    Status.UNKNOWN: lambda url, error: _unreachable(url, error.message or "unknown error"),
    Status.INTERNAL: lambda url, error: _unreachable(url, error.message or "internal error"),
    Status.RESOURCE_EXHAUSTED: _busy,
    Status.NOT_FOUND: _not_found,
    Status.UNIMPLEMENTED: _unsupported,
    Status.PERMISSION_DENIED: _not_allowed,
    Status.UNAUTHENTICATED: _not_allowed,
}
