"""What the journal keeps of an invocation: how far it has come, its answer, how it ended."""

import json
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.leader.assignment import Assignment
from nexus_tools.sui.digest import Digest
from nexus_tools.tool import Failure, FailureReason, Outcome


class Stage(StrEnum):
    """How far an invocation has come."""

    SEEN = "seen"
    INVOKING = "invoking"
    ANSWERED = "answered"
    SETTLING = "settling"
    CLOSED = "closed"


class Ending(StrEnum):
    """How an invocation ended for this leader."""

    SETTLED = "settled"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    """Another leader closed it, or it is gone."""
    MISSED = "missed"
    """Nobody may close it any more."""


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A transaction as it is sent: the same bytes have the same effects, however often."""

    digest: Digest
    data: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """An open invocation; `answer` from the stage `answered` on, `digest` while settling."""

    assignment: Assignment
    stage: Stage
    answer: Outcome | Failure | None
    digest: Digest | None


@dataclass(frozen=True, slots=True)
class Memory:
    """What was open when the journal was opened, and where events go on."""

    cursor: str | None
    entries: tuple[Entry, ...]
    transactions: tuple[SignedTransaction, ...]


def dump_answer(answer: Outcome | Failure) -> str:
    """An answer as JSON text."""
    if isinstance(answer, Outcome):
        return json.dumps({"variant": answer.variant, "ports": answer.ports})
    return json.dumps({"reason": answer.reason.value, "detail": answer.detail})


def load_answer(text: str) -> Outcome | Failure:
    """The answer that `dump_answer` wrote."""
    document = json.loads(text)
    if "variant" in document:
        return Outcome(document["variant"], document["ports"])
    return Failure(FailureReason(document["reason"]), document["detail"])
