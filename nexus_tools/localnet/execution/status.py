"""What went wrong while commands ran, as an `ExecutionError` of the effects.

Source: `convert_vm_error` in `sui-adapter/src/error.rs`.
"""

from collections.abc import Callable
from typing import Any

from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.natives import LimitExceeded, MalformedArgument, UnsupportedNative
from nexus_tools.localnet.vm import LinkError, MoveAbort, OutOfGas, PrimitiveError
from nexus_tools.sui.execution_status import ErrorKind, ExecutionError
from nexus_tools.sui.execution_status import MoveAbort as AbortStatus

_ERRORS: dict[type[Exception], Callable[[Any], ExecutionError]] = {
    CommandFailed: lambda failure: failure.error,
    MoveAbort: lambda failure: ExecutionError(
        ErrorKind.MOVE_ABORT, AbortStatus(failure.location, failure.code)
    ),
    PrimitiveError: lambda failure: ExecutionError(
        ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, failure.location
    ),
    LimitExceeded: lambda _: ExecutionError(ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, None),
    OutOfGas: lambda _: ExecutionError(ErrorKind.INSUFFICIENT_GAS),
    UnsupportedNative: lambda _: ExecutionError(ErrorKind.FEATURE_NOT_YET_SUPPORTED),
    MalformedArgument: lambda _: ExecutionError(ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR),
    LinkError: lambda _: ExecutionError(ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR),
}

EXECUTION_FAILURES = tuple(_ERRORS)
"""All that may end a command."""


def execution_error(failure: Exception) -> ExecutionError:
    """The error for one of `EXECUTION_FAILURES`."""
    known = next(kind for kind in type(failure).__mro__ if kind in _ERRORS)
    return _ERRORS[known](failure)
