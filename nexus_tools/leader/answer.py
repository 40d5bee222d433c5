"""What an answer of a tool means: an outcome, a failure with its reason, or: try again."""

from collections.abc import Callable
from dataclasses import dataclass

from nexus_tools.errors import ValidationError
from nexus_tools.leader.exchange import Answer
from nexus_tools.tool import (
    MAX_PORTS,
    Failure,
    FailureReason,
    InterfaceValidator,
    Outcome,
    parse_json,
)

MAX_DETAIL_BYTES = 200

# What a transaction takes: half of the 16 KiB of a pure input for the names, most of 128 KiB.
MAX_NAMES_BYTES = 8 * 1024
MAX_SETTLEMENT_BYTES = 100 * 1024

_FAILURES = {
    401: (FailureReason.UNAUTHORIZED, "the tool refused this leader: 401"),
    403: (FailureReason.UNAUTHORIZED, "the tool refused this leader: 403"),
    422: (FailureReason.INPUT_INVALID, "the tool refused the input: 422"),
    504: (FailureReason.TIMED_OUT, "the tool ran out of its own time: 504"),
}
# Already running, busy, not ready: with the same idempotency key it is safe to ask again.
_TRY_AGAIN = frozenset((409, 429, 503))


@dataclass(frozen=True, slots=True)
class Again:
    """Another attempt may help; `failure` is what it comes to if there is none.

    `retry_after` is the header of that name, `pause_ms` a pause that is known already.
    """

    failure: Failure
    retry_after: str = ""
    pause_ms: float | None = None


Attempt = Outcome | Failure | Again


def failure(reason: FailureReason, detail: str, max_outcome_bytes: int) -> Failure:
    """A failure whose detail fits: it counts as bytes of the outcome, which are bounded."""
    limit = min(MAX_DETAIL_BYTES, max_outcome_bytes)
    return Failure(reason, detail.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore"))


def judge(
    answer: Answer,
    validator: InterfaceValidator,
    size: Callable[[Outcome], int],
    max_outcome_bytes: int,
) -> Attempt:
    """What `answer` means.

    `size` gives the bytes that an outcome takes on chain, or raises `ValidationError` for ports
    that the chain cannot name.
    """
    if answer.status != 200:
        return _judge_status(answer, max_outcome_bytes)
    try:
        outcome = validator.check_output(parse_json(answer.body))
        problem = _too_many(outcome) or _too_large(size(outcome), max_outcome_bytes)
    except ValidationError as error:
        return failure(FailureReason.OUTPUT_INVALID, error.message, max_outcome_bytes)
    if problem:
        return failure(FailureReason.OUTPUT_TOO_LARGE, problem, max_outcome_bytes)
    return outcome


def _too_large(taken: int, max_outcome_bytes: int) -> str:
    limit = min(max_outcome_bytes, MAX_SETTLEMENT_BYTES)
    return f"the outcome has {taken} bytes, {limit} are allowed" if taken > limit else ""


def _too_many(outcome: Outcome) -> str:
    if len(outcome.ports) > MAX_PORTS:
        return f"the outcome has {len(outcome.ports)} ports, {MAX_PORTS} are allowed"
    if sum(map(len, outcome.ports)) > MAX_NAMES_BYTES:
        return f"the names of the ports have more than {MAX_NAMES_BYTES} characters"
    return ""


def _judge_status(answer: Answer, max_outcome_bytes: int) -> Attempt:
    reason, detail = _FAILURES.get(
        answer.status, (FailureReason.HTTP_ERROR, f"the tool answered {answer.status}")
    )
    judged = failure(reason, detail, max_outcome_bytes)
    return Again(judged, answer.retry_after) if answer.status in _TRY_AGAIN else judged
