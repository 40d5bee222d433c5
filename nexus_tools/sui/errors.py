"""The error classes of `nexus_tools`, with the exit code of each.

    NexusError                 exit code 1   failed
    ├── UsageError                       2   wrong usage: an option, a setting, a file
    ├── NotFoundError                    3   a tool, object, wallet or network does not exist
    ├── WrongStateError                  4   too early, or the wrong state for this operation
    ├── RefusedOnChainError              5   the chain executed the transaction and aborted it
    ├── UnreachableError                 6   a network, a node or a tool does not respond
    ├── ValidationError                  7   data is invalid: FQN, schema, definition, ports
    └── NotAllowedError                  8   not the owner, an invalid key, a refused address

The class determines the exit code of a CLI command. `code` is a stable identifier for programs. The
message describes the problem and its location. The hint describes a solution.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class NexusError(Exception):
    """An error that a user can understand and act on.

    `code` is snake_case and stable across releases. `details` contains JSON values for programs.
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
        """Return the error as the CLI prints it with `--json`."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        }


class UsageError(NexusError):
    """Incorrect usage, such as an invalid option, setting or file."""

    exit_code = 2


class NotFoundError(NexusError):
    """A tool, object, wallet or network that does not exist."""

    exit_code = 3


class WrongStateError(NexusError):
    """An operation that is not possible in the current state, or not possible yet."""

    exit_code = 4


class RefusedOnChainError(NexusError):
    """A transaction that the chain aborted or refused to execute."""

    exit_code = 5


class UnreachableError(NexusError):
    """A network, a node or a tool that does not respond."""

    exit_code = 6


class ValidationError(NexusError):
    """Invalid data, such as an FQN, a schema, a definition, or the ports of an invocation."""

    exit_code = 7


class NotAllowedError(NexusError):
    """A missing permission, for example because of another owner or an invalid key."""

    exit_code = 8
