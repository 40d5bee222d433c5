"""Conversion of gRPC errors to errors that users can act on."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from nexus_tools.sui.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
)

if TYPE_CHECKING:
    from grpc import RpcError

_TRANSIENT = ("UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED")

# The prefix of a gRPC message, up to the cause of the error. An example of a message is `failed to
# connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:9000: connect: Connection refused
# (111)`.
_WAY = re.compile(r"^.*last error: ([A-Z_]+: )?(ipv[46]:\S+: )?", re.DOTALL)


class UnsupportedByNodeError(UnreachableError):
    """An error of a node that does not offer a method, or does not store the necessary data."""


def is_transient(error: "RpcError") -> bool:
    """Return whether a call with this error may succeed if it is retried."""
    return error.code().name in _TRANSIENT


def explain_rpc_error(error: "RpcError | TimeoutError", url: str, timeout_s: float) -> NexusError:
    """Return a readable error for a failed call to the node at `url`.

    `timeout_s` was the time limit of the call.
    """
    if isinstance(error, TimeoutError) or error.code().name == "DEADLINE_EXCEEDED":
        return _unreachable(url, f"no response within {timeout_s:g} s", timeout_s=timeout_s)
    return _BY_STATUS.get(error.code().name, _refused)(url, error)


def _unreachable(url: str, reason: str, **details: float) -> NexusError:
    return UnreachableError(
        "node_unreachable",
        f"the node at {url} does not respond: {reason}",
        hint="Check the network's URL and your connection. If you use a localnet, start it.",
        details={"url": url, **details},
    )


def _busy(url: str, error: "RpcError") -> NexusError:
    return UnreachableError(
        "node_busy",
        f"the node at {url} is busy: {error.details()}",
        hint="Wait a moment, or use another node.",
        details=_details(error),
    )


def _not_found(_: str, error: "RpcError") -> NexusError:
    return NotFoundError("not_found", error.details() or "not found", details=_details(error))


def _unsupported(url: str, error: "RpcError") -> NexusError:
    return UnsupportedByNodeError(
        "node_unsupported",
        f"the node at {url} does not support the request: {error.details()}",
        hint="Use another node.",
        details=_details(error),
    )


def _not_allowed(url: str, error: "RpcError") -> NexusError:
    return NotAllowedError(
        "node_refused_access",
        f"the node at {url} denied access: {error.details()}",
        hint="Check whether the provider requires a key in the URL.",
        details=_details(error),
    )


def _refused(_: str, error: "RpcError") -> NexusError:
    return RefusedOnChainError(
        "refused_by_node",
        f"the node refused the request: {error.details()}",
        details=_details(error),
    )


def _details(error: "RpcError") -> dict[str, str]:
    return {"grpc_status": error.code().name}


def _reason(error: "RpcError") -> str:
    return _WAY.sub("", error.details() or error.code().name.lower().replace("_", " "))


_BY_STATUS: dict[str, Callable[[str, "RpcError"], NexusError]] = {
    "UNAVAILABLE": lambda url, error: _unreachable(url, _reason(error)),
    "CANCELLED": lambda url, _: _unreachable(url, "the node closed the connection"),
    "UNKNOWN": lambda url, error: _unreachable(url, _reason(error)),
    "INTERNAL": lambda url, error: _unreachable(url, _reason(error)),
    "RESOURCE_EXHAUSTED": _busy,
    "NOT_FOUND": _not_found,
    "UNIMPLEMENTED": _unsupported,
    "PERMISSION_DENIED": _not_allowed,
    "UNAUTHENTICATED": _not_allowed,
}
