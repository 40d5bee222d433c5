"""How an invocation was closed, as one leader sees it."""

from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.tool import Outcome


class Closed(StrEnum):
    """How an invocation was closed, as one leader sees it."""

    SETTLED = "settled"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another leader closed it, or it is gone."""
    MISSED = "missed"
    """Nobody may close it any more but by `expire`."""


@dataclass(frozen=True, slots=True)
class End:
    """How an invocation was closed, with what and for which fee where that is known here."""

    closed: Closed
    outcome: Outcome | None = None
    fee_mist: int | None = None
