"""The two ways in which a transaction does not do what its sender wanted.

It is refused before it is executed, at no cost: `TransactionRefused`. Or a command fails, nothing
is done, and the gas is paid: `CommandFailed`, which ends up in the effects.
"""

from typing import Any

from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    ExecutionError,
    TypeArgumentError,
    TypeArgumentErrorKind,
)


class TransactionRefused(RefusedOnChainError):  # noqa: N818 - it says what happened
    """The node does not execute the transaction.

    `code` is the name of Sui's `UserInputError` in snake case, the message is phrased as there.
    """


class CommandFailed(Exception):  # noqa: N818 - it says what happened
    """A command, or the end of the transaction, failed with this error."""

    def __init__(self, kind: ErrorKind, data: Any = None, message: str = "") -> None:
        super().__init__(message or kind.name)
        self.error = ExecutionError(kind, data)


def argument_failed(index: int, kind: ArgumentErrorKind, *data: int) -> CommandFailed:
    """The `index`th argument of the command is wrong."""
    return CommandFailed(
        ErrorKind.COMMAND_ARGUMENT_ERROR, CommandArgumentError(index, kind, tuple(data))
    )


def type_argument_failed(index: int, kind: TypeArgumentErrorKind) -> CommandFailed:
    """The `index`th type argument of the command is wrong."""
    return CommandFailed(ErrorKind.TYPE_ARGUMENT_ERROR, TypeArgumentError(index, kind))
