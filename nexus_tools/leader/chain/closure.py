"""The closure of an invocation from the perspective of one leader."""

from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.tool import Outcome


class ClosureKind(StrEnum):
    """The kind of an invocation's closure from the perspective of one leader."""

    SETTLED = "settled"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another leader closed the invocation, or the invocation was deleted."""
    MISSED = "missed"
    """It is too late to settle or fail the invocation, which only `expire` can still close."""


@dataclass(frozen=True, slots=True)
class Closure:
    """The closure of an invocation, with its outcome and fee if they are known."""

    kind: ClosureKind
    outcome: Outcome | None = None
    fee_mist: int | None = None
