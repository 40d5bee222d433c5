"""The HTTP protocol between callers and the server of a tool.

A tool call is `POST {url}/invoke` with the ports as JSON. The response is 200 with `{variant:
{port: value}}`, or a problem document (RFC 9457). Header names are case-insensitive (RFC 9110).
"""

from enum import Enum
from http import HTTPStatus

from nexus_tools.tool.fqn import ToolFqn
from nexus_tools.tool.outcome import FailureReason

# --- Paths. `TOOLS` is relative to the server's root. Other paths are relative to the tool's URL.

HEALTH = "/health"
META = "/meta"
INVOKE = "/invoke"
INVOKE_METHOD = "POST"
TOOLS = "/tools"

# --- Media types

JSON = "application/json"
PROBLEM_JSON = "application/problem+json"

# --- Headers of a tool call

INVOCATION_HEADER = "Nexus-Invocation"
"""The ID of the invocation. If a server receives the same ID again, it repeats its response."""

IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
"""The idempotency key of callers without an on-chain invocation (IETF draft `idempotency-key`)."""

TOOL_HEADER = "Nexus-Tool"
"""The FQN of the called tool."""

DEADLINE_HEADER = "Nexus-Deadline"
"""The time until which the caller waits, in RFC 3339 format."""

MAX_OUTCOME_BYTES_HEADER = "Nexus-Max-Outcome-Bytes"
"""The maximum size of the outcome that the requester pays for, in bytes."""

RUN_HEADER = "Nexus-Run"
"""The attempt of a workflow run that calls the tool: `execution/vertex/path/attempt`. The path may
be empty or a list of indices such as `0,2`."""

CALL_HEADERS = (
    INVOCATION_HEADER,
    IDEMPOTENCY_KEY_HEADER,
    TOOL_HEADER,
    DEADLINE_HEADER,
    MAX_OUTCOME_BYTES_HEADER,
    RUN_HEADER,
)

# --- Headers of signed requests and responses (RFC 9421, RFC 9530)

SIGNATURE_INPUT_HEADER = "Signature-Input"
SIGNATURE_HEADER = "Signature"
CONTENT_DIGEST_HEADER = "Content-Digest"

OUTCOME_SIGNATURE_HEADER = "Nexus-Outcome-Signature"
"""The tool's signature of the answer, for the chain: `:base64:;keyid="FQN#ed25519:…"`."""


def endpoint(url: str, path: str) -> str:
    """Return the URL of the endpoint `path` below `url`, the URL of a tool or a server."""
    return url.rstrip("/") + path


def tool_path(fqn: ToolFqn) -> str:
    """Return the URL path of a tool, which is the same on every server: `/xyz.example.math.add@1`.

    The tool's URL is registered on chain. If the path depended on other tools of the server, the
    URL could become invalid.
    """
    return f"/{fqn}"


def tool_url(root_url: str, path: str) -> str:
    """Return the URL of a tool at `path` on the server at `root_url`. `/` is the server's root."""
    return endpoint(root_url, path).rstrip("/")


class Problem(Enum):
    """A problem that a server reports: a stable code and its HTTP status."""

    HEADER_INVALID = ("header_invalid", HTTPStatus.BAD_REQUEST)
    SIGNATURE_MISSING = ("signature_missing", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_MALFORMED = ("signature_malformed", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_INVALID = ("signature_invalid", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_EXPIRED = ("signature_expired", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_FROM_FUTURE = ("signature_from_future", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_REPLAYED = ("signature_replayed", HTTPStatus.UNAUTHORIZED)
    DIGEST_MISMATCH = ("digest_mismatch", HTTPStatus.UNAUTHORIZED)
    KEY_UNKNOWN = ("key_unknown", HTTPStatus.UNAUTHORIZED)
    LEADER_NOT_ACCEPTED = ("leader_not_accepted", HTTPStatus.FORBIDDEN)
    ANSWERS_UNPAID = ("answers_unpaid", HTTPStatus.FORBIDDEN)
    CALL_NOT_AUTHORIZED = ("call_not_authorized", HTTPStatus.FORBIDDEN)
    TOOL_UNKNOWN = ("tool_unknown", HTTPStatus.NOT_FOUND)
    BODY_TIMED_OUT = ("body_timed_out", HTTPStatus.REQUEST_TIMEOUT)
    ALREADY_RUNNING = ("already_running", HTTPStatus.CONFLICT)
    BODY_TOO_LARGE = ("body_too_large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    HOST_NOT_ALLOWED = ("host_not_allowed", HTTPStatus.MISDIRECTED_REQUEST)
    MEDIA_TYPE_UNSUPPORTED = ("media_type_unsupported", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    ENCODING_UNSUPPORTED = ("encoding_unsupported", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    JSON_INVALID = ("json_invalid", HTTPStatus.UNPROCESSABLE_ENTITY)
    INPUT_INVALID = ("input_invalid", HTTPStatus.UNPROCESSABLE_ENTITY)
    OUTPUT_TOO_LARGE = ("output_too_large", HTTPStatus.UNPROCESSABLE_ENTITY)
    KEY_REUSED = ("key_reused", HTTPStatus.UNPROCESSABLE_ENTITY)
    BUSY = ("busy", HTTPStatus.TOO_MANY_REQUESTS)
    TOOL_RAISED = ("tool_raised", HTTPStatus.INTERNAL_SERVER_ERROR)
    OUTPUT_INVALID = ("output_invalid", HTTPStatus.INTERNAL_SERVER_ERROR)
    SERVER_BROKE = ("server_broke", HTTPStatus.INTERNAL_SERVER_ERROR)
    NOT_READY = ("not_ready", HTTPStatus.SERVICE_UNAVAILABLE)
    KEY_NOT_ON_CHAIN = ("key_not_on_chain", HTTPStatus.SERVICE_UNAVAILABLE)
    TIMED_OUT = ("timed_out", HTTPStatus.GATEWAY_TIMEOUT)

    def __init__(self, code: str, status: HTTPStatus) -> None:
        self.code = code
        self.status = status


# --- The meaning of a status for the invocation

_TRY_AGAIN = frozenset(
    (
        Problem.ALREADY_RUNNING.status,
        Problem.BUSY.status,
        HTTPStatus.BAD_GATEWAY,
        Problem.NOT_READY.status,
        HTTPStatus.GATEWAY_TIMEOUT,
    )
)

_OF_CALLER = frozenset(
    (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
)

_REASONS: dict[int, FailureReason] = {
    HTTPStatus.UNAUTHORIZED: FailureReason.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: FailureReason.UNAUTHORIZED,
    Problem.INPUT_INVALID.status: FailureReason.INPUT_INVALID,
    Problem.ALREADY_RUNNING.status: FailureReason.TIMED_OUT,
}

STATUSES_WITH_CODE = frozenset(
    (
        Problem.INPUT_INVALID.status,
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        Problem.TIMED_OUT.status,
    )
)
"""The statuses whose meaning depends on the `code` of the problem document."""


def is_retryable(status: int, code: str = "") -> bool:
    """Return whether a retry with the same idempotency key is safe and may succeed.

    A gateway in front of the tool responds with 502 and 504, for example while the tool restarts. A
    504 whose problem document has the code `timed_out` comes from the tool.
    """
    return status in _TRY_AGAIN and code != Problem.TIMED_OUT.code


def is_caller_specific(status: int, code: str = "") -> bool:
    """Return whether the rejection concerns only this caller, so that another leader may succeed.

    A 401 or 403 concerns the identity and the signature of the caller. A 429 limits the calls of
    one client (RFC 6585). The code `key_reused` means that this leader has already sent another
    body.
    """
    return status in _OF_CALLER or code == Problem.KEY_REUSED.code


def failure_reason(status: int, code: str = "") -> FailureReason:
    """Return the failure reason for the status of the last response, which is not 200.

    `code` is the code in the problem document. A 422 usually means that the input is invalid, with
    two exceptions. First, a server may follow the `Idempotency-Key` draft and reject a key that was
    used with another body (`key_reused`). Second, an answer may be too large.
    """
    if code == Problem.KEY_REUSED.code:
        return FailureReason.HTTP_ERROR
    if code == Problem.OUTPUT_TOO_LARGE.code:
        return FailureReason.OUTPUT_TOO_LARGE
    if status == Problem.TIMED_OUT.status and code == Problem.TIMED_OUT.code:
        return FailureReason.TIMED_OUT
    return _REASONS.get(status, FailureReason.HTTP_ERROR)
