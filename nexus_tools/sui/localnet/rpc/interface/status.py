"""The error that services raise, and the conversion of a `NexusError` to this error.

Source of codes and wording: `sui-rpc-api/src/error.rs`.
"""

from enum import IntEnum
from typing import Literal

from msgspec import Struct

from nexus_tools.sui.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    ValidationError,
)
from nexus_tools.sui.rpc import Message, Messages


class Code(IntEnum):
    """The gRPC status codes that the server uses (github.com/grpc/grpc, statuscodes.md)."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


class RpcError(Exception):
    """The error that ends a call. `violation` is the invalid field, if any."""

    def __init__(self, code: Code, message: str, violation: "Violation | None" = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.violation = violation


class Violation(Struct, frozen=True):
    """An invalid field of a request, and the reason (`sui.rpc.v2.ErrorReason`)."""

    field: str
    reason: Literal["FIELD_MISSING", "FIELD_INVALID"]


def invalid(message: str, field: str | None = None) -> RpcError:
    """Return the error for an invalid request or field."""
    violation = Violation(field, "FIELD_INVALID") if field else None
    return RpcError(Code.INVALID_ARGUMENT, message, violation)


def missing(field: str) -> RpcError:
    """Return the error for a missing field."""
    violation = Violation(field, "FIELD_MISSING")
    return RpcError(Code.INVALID_ARGUMENT, f"missing {field}", violation)


def not_found(message: str) -> RpcError:
    """Return the error for an item that does not exist on this network."""
    return RpcError(Code.NOT_FOUND, message)


_CODES: dict[type[NexusError], Code] = {
    NotFoundError: Code.NOT_FOUND,
    ValidationError: Code.INVALID_ARGUMENT,
    NotAllowedError: Code.INVALID_ARGUMENT,
    RefusedOnChainError: Code.INVALID_ARGUMENT,
}


def as_rpc_error(error: NexusError) -> RpcError:
    """Convert an error of the node to an error with a gRPC status code."""
    for cls, code in _CODES.items():
        if isinstance(error, cls):
            return RpcError(code, str(error))
    return RpcError(Code.INTERNAL, str(error))


def render_status(message: Message, error: RpcError, messages: Messages) -> None:
    """Fill a `google.rpc.Status`, with a `google.rpc.BadRequest` if a field is invalid."""
    message.code = int(error.code)
    message.message = error.message
    if error.violation is None:
        return
    request = messages.message("google.rpc.BadRequest")()
    request.field_violations.add(
        field=error.violation.field, description=error.message, reason=error.violation.reason
    )
    message.details.add().Pack(request)
