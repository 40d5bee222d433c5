"""The two ways in which a transaction can fail.

The node may refuse the transaction before execution, at no cost (`TransactionRefused`).
Alternatively, a command may fail with `CommandFailed` or an exception of the VM. After a failed
command, the changes are discarded, the sender pays the gas, and the effects contain an
`ExecutionError`. Source: `convert_vm_error` in `sui-adapter/src/error.rs`.
"""

from collections.abc import Callable
from typing import Any

from nexus_tools.sui.errors import RefusedOnChainError
from nexus_tools.sui.localnet.natives import LimitExceeded, MalformedArgument, UnsupportedNative
from nexus_tools.sui.localnet.vm import (
    LinkError,
    MoveAbort,
    OutOfGas,
    PrimitiveError,
    UnknownNative,
)
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    ExecutionError,
    TypeArgumentError,
    TypeArgumentErrorKind,
)
from nexus_tools.sui.types.execution_status import MoveAbort as AbortStatus


class TransactionRefused(RefusedOnChainError):  # noqa: N818 - the name describes the event
    """The refusal to execute a transaction.

    `code` is the name of Sui's `UserInputError` in snake case. The message has Sui's wording.
    """


class CommandFailed(Exception):  # noqa: N818 - the name describes the event
    """The failure of a command, or of the checks after the last command."""

    def __init__(self, kind: ErrorKind, data: Any = None, message: str = "") -> None:
        super().__init__(message or kind.name)
        self.error = ExecutionError(kind, data)


def argument_failed(index: int, kind: ArgumentErrorKind, *data: int) -> CommandFailed:
    """Return the error for the argument at `index` of the command."""
    return CommandFailed(
        ErrorKind.COMMAND_ARGUMENT_ERROR, CommandArgumentError(index, kind, tuple(data))
    )


def type_argument_failed(index: int, kind: TypeArgumentErrorKind) -> CommandFailed:
    """Return the error for the type argument at `index` of the command."""
    return CommandFailed(ErrorKind.TYPE_ARGUMENT_ERROR, TypeArgumentError(index, kind))


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
    UnknownNative: lambda _: ExecutionError(ErrorKind.FEATURE_NOT_YET_SUPPORTED),
    LinkError: lambda _: ExecutionError(ErrorKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR),
}

EXECUTION_FAILURES = tuple(_ERRORS)
"""The exceptions with which a command may fail."""


def execution_error(failure: Exception) -> ExecutionError:
    """Return the error for the effects that corresponds to an exception in `EXECUTION_FAILURES`."""
    error_type = next(kind for kind in type(failure).__mro__ if kind in _ERRORS)
    return _ERRORS[error_type](failure)
