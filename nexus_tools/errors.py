"""Every error that a user of `nexus_tools` can meet, defined in `nexus_tools.sui.errors`."""

from nexus_tools.sui.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    RefusedOnChainError,
    UnreachableError,
    UsageError,
    ValidationError,
    WrongStateError,
)

__all__ = [
    "NexusError",
    "NotAllowedError",
    "NotFoundError",
    "RefusedOnChainError",
    "UnreachableError",
    "UsageError",
    "ValidationError",
    "WrongStateError",
]
