"""Every error that a user of `nexus_tools` can meet.

    NexusError                 exit code 1   failed
    ├── UsageError                       2   wrong usage: an option, a setting, a file
    ├── NotFoundError                    3   there is no such tool, object, wallet, network
    ├── NotNowError                      4   too early, or the wrong state for this verb
    ├── RefusedOnChainError              5   the chain executed the transaction and aborted it
    ├── UnreachableError                 6   a network, a node or a tool does not respond
    ├── ValidationError                  7   data breaks a rule: FQN, schema, definition, ports
    └── NotAllowedError                  8   not the owner, a bad key, a refused address

The class says what a caller can do about it, and is the exit code of the command line; `code` is a
stable word for programs; the message says what is wrong and where, the hint what to do next.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class NexusError(Exception):
    """Something that a user can understand and act upon.

    `code` is snake_case and stable over releases. `details` are JSON values for programs.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = dict(details or {})

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def as_json(self) -> dict[str, Any]:
        """The error as the command line prints it with `--json`."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        }


class UsageError(NexusError):
    """Wrong usage: an option, a setting or a file."""

    exit_code = 2


class NotFoundError(NexusError):
    """There is no such tool, object, wallet or network."""

    exit_code = 3


class NotNowError(NexusError):
    """It is too early, or the state is wrong for this verb."""

    exit_code = 4


class RefusedOnChainError(NexusError):
    """The chain executed the transaction and aborted it, or refused to execute it."""

    exit_code = 5


class UnreachableError(NexusError):
    """A network, a node or a tool does not respond."""

    exit_code = 6


class ValidationError(NexusError):
    """Data breaks a rule: an FQN, a schema, a definition, the ports of an invocation."""

    exit_code = 7


class NotAllowedError(NexusError):
    """The wallet is not the owner, a key is bad, or an address is refused."""

    exit_code = 8
