"""How an invocation was closed, as one leader sees it."""

from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.tool import Outcome


class ClosureKind(StrEnum):
    """The kinds of ending of an invocation, as one leader sees them."""

    SETTLED = "settled"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another leader closed the invocation, or the invocation was deleted."""
    MISSED = "missed"
    """It is too late to close the invocation, except with the Move function `expire`."""


@dataclass(frozen=True, slots=True)
class Closure:
    """How an invocation was closed, with the outcome and the fee if they are known."""

    kind: ClosureKind
    outcome: Outcome | None = None
    fee_mist: int | None = None
