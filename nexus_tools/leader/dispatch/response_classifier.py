"""What a response of a tool means: an answer, a failure with its reason, or: try again.

A refusal may be of one leader alone: another leader of the invocation may still get an answer.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nexus_tools.errors import ValidationError
from nexus_tools.http.guarded_client import Response
from nexus_tools.tool import (
    MAX_PORTS,
    Answer,
    Failure,
    FailureReason,
    InterfaceValidator,
    Outcome,
    Problem,
    parse_json,
    protocol,
)

MAX_DETAIL_BYTES = 200
"""Of a failure, in UTF-8: `MAX_DETAIL_BYTES` of the Move module `invocation`."""

MAX_OUTCOME_BYTES = 100 * 1024
"""Of an answer: most of the 128 KiB that a transaction may have."""

_CODES = frozenset(problem.code for problem in Problem)

_GATEWAY = "a gateway in front of the tool responded with"

_DETAILS = {
    FailureReason.UNAUTHORIZED: "the tool refused this leader:",
    FailureReason.INPUT_INVALID: "the tool refused the input:",
    FailureReason.OUTPUT_TOO_LARGE: "the tool kept an answer that is too large:",
    FailureReason.TIMED_OUT: "the tool ran out of its own time:",
    FailureReason.HTTP_ERROR: "the tool responded with",
}


@dataclass(frozen=True, slots=True)
class Again:
    """Another call may help; `failure` is what the invocation comes to if there is none.

    `retry_after` is the header of that name. A tool that `is_running` has the call already. If it
    `is_of_leader`, the tool limits the calls of this leader.
    """

    failure: Failure
    retry_after: str = ""
    is_running: bool = False
    is_of_leader: bool = False


@dataclass(frozen=True, slots=True)
class Declined:
    """This leader gets no answer, and another leader may get one.

    `failure` is the outcome of the invocation if no other leader has a window after this one's.
    """

    failure: Failure


def failure(reason: FailureReason, detail: str) -> Failure:
    """A failure whose detail is no longer than the chain takes, cut between two characters."""
    cut = detail.encode("utf-8", "replace")[:MAX_DETAIL_BYTES]
    return Failure(reason, cut.decode("utf-8", "ignore"))


def judge_response(
    response: Response,
    validator: InterfaceValidator,
    size: Callable[[Answer], int],
    max_outcome_bytes: int,
) -> Outcome | Again | Declined:
    """The outcome that `response` comes to, or that another call or another leader may help.

    `size` gives the bytes that an answer takes on chain, or raises `ValidationError` for ports
    that the chain cannot name.
    """
    if response.status != 200:
        return _of_status(response)
    try:
        answer = validator.check_output(parse_json(response.body), len(response.body))
        problem = _too_many(answer) or _too_large(size(answer), max_outcome_bytes)
    except ValidationError as error:
        return failure(FailureReason.OUTPUT_INVALID, error.message)
    if problem:
        return failure(FailureReason.OUTPUT_TOO_LARGE, problem)
    return answer


def _too_large(taken: int, max_outcome_bytes: int) -> str:
    limit = min(max_outcome_bytes, MAX_OUTCOME_BYTES)
    if taken <= limit:
        return ""
    said = f"the answer has {taken} bytes, {limit} are allowed"
    if taken > MAX_OUTCOME_BYTES:
        return f"{said}: no transaction can have more than {MAX_OUTCOME_BYTES}"
    return f"{said}: request it with --max-outcome-bytes {taken} or more"


def _too_many(answer: Answer) -> str:
    if len(answer.ports) > MAX_PORTS:
        return f"the answer has {len(answer.ports)} ports, {MAX_PORTS} are allowed"
    return ""


def _problem(body: bytes) -> tuple[str, str]:
    """`code` and `detail` of a problem document (RFC 9457); empty where there is none."""
    try:
        document = parse_json(body)
    except ValidationError:
        return "", ""
    found = document if isinstance(document, dict) else {}
    code, detail = (found.get(name) for name in ("code", "detail"))
    return code if isinstance(code, str) else "", detail if isinstance(detail, str) else ""


def _why(reason: FailureReason, status: int, code: str, detail: str) -> str:
    """The status, and why a leader was refused: in a word of the protocol, or in the tool's words.

    Of an answer that is too large, how large it is says more than the status, which reads as that.
    """
    words = " ".join(detail.split())
    if reason is FailureReason.OUTPUT_TOO_LARGE:
        return words or f"status {status}"
    if reason is not FailureReason.UNAUTHORIZED:
        return str(status)
    if code == Problem.CALL_NOT_AUTHORIZED.code:
        return f"{status}: {words}"
    return f"{status} {code}" if code in _CODES else str(status)


def _of_status(response: Response) -> Failure | Again | Declined:
    if response.status == protocol.Problem.ALREADY_RUNNING.status:
        # The response comes when the running call ends: there is no other time to come back.
        detail = f"the tool was still running: {response.status}"
        running = failure(FailureReason.TIMED_OUT, detail)
        return Again(running, is_running=True)
    code, detail = _problem(response.body)
    reason = protocol.failure_reason(response.status, code)
    said = _GATEWAY if _is_gateway(response.status, code) else _DETAILS[reason]
    failed = failure(reason, f"{said} {_why(reason, response.status, code, detail)}")
    is_of_leader = protocol.is_of_caller(response.status, code)
    if protocol.may_try_again(response.status, code):
        return Again(failed, response.retry_after, is_of_leader=is_of_leader)
    return Declined(failed) if is_of_leader else failed


def _is_gateway(status: int, code: str) -> bool:
    """Whether a response is that of a gateway, which did not reach the tool in time."""
    return status in (502, 504) and not code
