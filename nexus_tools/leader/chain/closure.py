"""How an invocation was closed, as one leader sees it."""

from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.tool import Outcome


class ClosureKind(StrEnum):
    """The way in which an invocation was closed, as one leader sees it."""

    SETTLED = "settled"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another leader closed it, or it was deleted."""
    MISSED = "missed"
    """It is too late to close it, except by `expire`."""


@dataclass(frozen=True, slots=True)
class Closure:
    """The way in which an invocation was closed, with the outcome and the fee if they are known."""

    kind: ClosureKind
    outcome: Outcome | None = None
    fee_mist: int | None = None
