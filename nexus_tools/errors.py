"""All errors that `nexus_tools` raises, re-exported from `nexus_tools.sui.errors`."""

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
