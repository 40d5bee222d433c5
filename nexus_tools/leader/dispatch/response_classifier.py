"""The classification of a tool's response: an answer, a failure with a reason, or a retry.

A tool may refuse only this leader. Another leader of the invocation may then get an answer.
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
"""The maximum size of a failure's detail in UTF-8, as in the Move module `invocation`."""

MAX_OUTCOME_BYTES = 100 * 1024
"""The maximum size of an answer. A transaction has at most 128 KiB and contains other data."""

_PROBLEM_CODES = frozenset(problem.code for problem in Problem)

_GATEWAY_PREFIX = "a gateway in front of the tool responded with"

_DETAIL_PREFIXES = {
    FailureReason.UNAUTHORIZED: "the tool rejected this leader:",
    FailureReason.INPUT_INVALID: "the tool rejected the input:",
    FailureReason.OUTPUT_TOO_LARGE: "the tool's answer is too large:",
    FailureReason.TIMED_OUT: "the tool reached its own time limit:",
    FailureReason.HTTP_ERROR: "the tool responded with",
}


@dataclass(frozen=True, slots=True)
class Retryable:
    """A failed attempt that a retry may fix. Without a retry, the outcome is `failure`.

    `retry_after` is the value of the `Retry-After` header. `is_running` is whether the tool is
    still running the call. `is_leader_specific` is whether the tool limits this leader's calls.
    """

    failure: Failure
    retry_after: str = ""
    is_running: bool = False
    is_leader_specific: bool = False


@dataclass(frozen=True, slots=True)
class Declined:
    """The result of a call if another leader may get an answer that this leader does not get.

    If no other leader has a later window, `failure` is the outcome of the invocation.
    """

    failure: Failure


def failure(reason: FailureReason, detail: str) -> Failure:
    """Return a failure whose detail is truncated to the length that the chain accepts.

    The detail is truncated between two characters, so that it is valid UTF-8.
    """
    cut = detail.encode("utf-8", "replace")[:MAX_DETAIL_BYTES]
    return Failure(reason, cut.decode("utf-8", "ignore"))


def classify_response(
    response: Response,
    validator: InterfaceValidator,
    size: Callable[[Answer], int],
    max_outcome_bytes: int,
) -> Outcome | Retryable | Declined:
    """Return the outcome of `response`, or whether a retry or another leader may get an answer.

    `size` returns the number of bytes of an answer on chain. `size` raises `ValidationError` for a
    port whose name the chain does not accept.
    """
    if response.status != 200:
        return _classify_status(response)
    try:
        answer = validator.check_output(parse_json(response.body), len(response.body))
        problem = _too_many_ports(answer) or _too_large(size(answer), max_outcome_bytes)
    except ValidationError as error:
        return failure(FailureReason.OUTPUT_INVALID, error.message)
    if problem:
        return failure(FailureReason.OUTPUT_TOO_LARGE, problem)
    return answer


def _too_large(size: int, max_outcome_bytes: int) -> str:
    limit = min(max_outcome_bytes, MAX_OUTCOME_BYTES)
    if size <= limit:
        return ""
    message = f"expected an answer of at most {limit} bytes, got {size}"
    if size > MAX_OUTCOME_BYTES:
        return f"{message}; a transaction can hold at most {MAX_OUTCOME_BYTES}"
    return f"{message}; use --max-outcome-bytes {size} or more"


def _too_many_ports(answer: Answer) -> str:
    if len(answer.ports) > MAX_PORTS:
        return f"expected at most {MAX_PORTS} ports, got {len(answer.ports)}"
    return ""


def _problem(body: bytes) -> tuple[str, str]:
    """Return the members `code` and `detail` of a problem document (RFC 9457), or empty strings."""
    try:
        document = parse_json(body)
    except ValidationError:
        return "", ""
    members = document if isinstance(document, dict) else {}
    code, detail = (members.get(name) for name in ("code", "detail"))
    return code if isinstance(code, str) else "", detail if isinstance(detail, str) else ""


def _status_detail(reason: FailureReason, status: int, code: str, detail: str) -> str:
    """Return a failure detail with the status of a response, and its error code or detail.

    If the answer is too large, only the tool's detail is returned, because it contains the size.
    """
    text = " ".join(detail.split())
    if reason is FailureReason.OUTPUT_TOO_LARGE:
        return text or f"status {status}"
    if reason is not FailureReason.UNAUTHORIZED:
        return str(status)
    if code == Problem.CALL_NOT_AUTHORIZED.code:
        return f"{status}: {text}"
    return f"{status} {code}" if code in _PROBLEM_CODES else str(status)


def _classify_status(response: Response) -> Failure | Retryable | Declined:
    if response.status == protocol.Problem.ALREADY_RUNNING.status:
        # Retry at once, because the tool responds when the running call ends.
        detail = f"the tool is still running the call: {response.status}"
        timeout_failure = failure(FailureReason.TIMED_OUT, detail)
        return Retryable(timeout_failure, is_running=True)
    code, detail = _problem(response.body)
    reason = protocol.failure_reason(response.status, code)
    prefix = _GATEWAY_PREFIX if _is_gateway(response.status, code) else _DETAIL_PREFIXES[reason]
    failed = failure(reason, f"{prefix} {_status_detail(reason, response.status, code, detail)}")
    is_of_leader = protocol.is_caller_specific(response.status, code)
    if protocol.is_retryable(response.status, code):
        return Retryable(failed, response.retry_after, is_leader_specific=is_of_leader)
    return Declined(failed) if is_of_leader else failed


def _is_gateway(status: int, code: str) -> bool:
    """Return whether a gateway sent the response because it did not reach the tool in time."""
    return status in (502, 504) and not code
