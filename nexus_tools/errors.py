"""Every error that a user of `nexus_tools` can meet, defined in `nexus_tools.sui.errors`."""

from nexus_tools.sui.errors import (
    NexusError,
    NotAllowedError,
    NotFoundError,
    NotNowError,
    RefusedOnChainError,
    UnreachableError,
    UsageError,
    ValidationError,
)

__all__ = [
    "NexusError",
    "NotAllowedError",
    "NotFoundError",
    "NotNowError",
    "RefusedOnChainError",
    "UnreachableError",
    "UsageError",
    "ValidationError",
]
