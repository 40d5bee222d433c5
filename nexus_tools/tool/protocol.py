"""The protocol between whoever calls a tool and the server of the tool: HTTP, said once.

A tool call is `POST {url}/invoke` with the ports as JSON; the response is 200 with
`{variant: {port: value}}`, or a problem document (RFC 9457). Names of headers are compared without
regard to case (RFC 9110).
"""

from enum import Enum
from http import HTTPStatus

from nexus_tools.tool.fqn import ToolFqn
from nexus_tools.tool.outcome import FailureReason

# --- Paths. All but `TOOLS` are below the URL of a tool; that is below the root of its server.

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
"""The id of the invocation; a server that has seen it gives the response that it gave then."""

IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
"""The same, for callers without an invocation (IETF draft of that name)."""

TOOL_HEADER = "Nexus-Tool"
"""The FQN of the tool that is meant."""

DEADLINE_HEADER = "Nexus-Deadline"
"""When nobody waits any more, as RFC 3339 has it."""

MAX_OUTCOME_BYTES_HEADER = "Nexus-Max-Outcome-Bytes"
"""How large an outcome the requester pays for."""

RUN_HEADER = "Nexus-Run"
"""Which step of a workflow it is: `execution/vertex/path/attempt`; the path is `0,2`, or empty."""

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
"""The tool's signature of the answer as it goes on chain: `:base64:;keyid="FQN#ed25519:…"`."""


def endpoint(url: str, path: str) -> str:
    """Where the tool serves `path`, or the root of a server, at `url`."""
    return url.rstrip("/") + path


def tool_path(fqn: ToolFqn) -> str:
    """Where a tool lives on any server: `/xyz.example.math.add@1`, whatever else is served there.

    Its URL is registered on chain; a path that another tool could change would break it.
    """
    return f"/{fqn}"


def tool_url(root_url: str, path: str) -> str:
    """The URL of a tool at `path` of the server whose root is at `root_url`; `/` is the root."""
    return endpoint(root_url, path).rstrip("/")


class Problem(Enum):
    """What a server refuses or fails to do: a stable word, and the status that goes with it."""

    HEADER_INVALID = ("header_invalid", HTTPStatus.BAD_REQUEST)
    SIGNATURE_MISSING = ("signature_missing", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_MALFORMED = ("signature_malformed", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_INVALID = ("signature_invalid", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_EXPIRED = ("signature_expired", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_FROM_FUTURE = ("signature_from_future", HTTPStatus.UNAUTHORIZED)
    SIGNATURE_REPLAYED = ("signature_replayed", HTTPStatus.UNAUTHORIZED)
    DIGEST_WRONG = ("digest_wrong", HTTPStatus.UNAUTHORIZED)
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
    TOOL_BROKE = ("tool_broke", HTTPStatus.INTERNAL_SERVER_ERROR)
    OUTPUT_INVALID = ("output_invalid", HTTPStatus.INTERNAL_SERVER_ERROR)
    SERVER_BROKE = ("server_broke", HTTPStatus.INTERNAL_SERVER_ERROR)
    NOT_READY = ("not_ready", HTTPStatus.SERVICE_UNAVAILABLE)
    KEY_NOT_ON_CHAIN = ("key_not_on_chain", HTTPStatus.SERVICE_UNAVAILABLE)
    TIMED_OUT = ("timed_out", HTTPStatus.GATEWAY_TIMEOUT)

    def __init__(self, code: str, status: HTTPStatus) -> None:
        self.code = code
        self.status = status


# --- What a status means for the invocation

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

EXPLAINED = frozenset(
    (
        Problem.INPUT_INVALID.status,
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        Problem.TIMED_OUT.status,
    )
)
"""What a response with such a status means is said by the `code` of its problem document."""


def may_try_again(status: int, code: str = "") -> bool:
    """Return whether another call with the same idempotency key may help, and is safe.

    A gateway in front of the tool responds with 502 and 504, for example while the tool restarts. A
    504 whose problem document has the code `timed_out` is the tool's own.
    """
    return status in _TRY_AGAIN and code != Problem.TIMED_OUT.code


def is_of_caller(status: int, code: str = "") -> bool:
    """Return whether a refusal is of this caller alone, so that another leader may get an answer.

    A 401 or 403 is about who calls, and how it signs. A 429 limits the calls of one client (RFC
    6585). The code `key_reused` says that this leader sent another body before.
    """
    return status in _OF_CALLER or code == Problem.KEY_REUSED.code


def failure_reason(status: int, code: str = "") -> FailureReason:
    """Why the invocation failed if the last response to its tool call had this status, no 200.

    `code` is the problem document's. A server that follows the draft of `Idempotency-Key` to the
    letter refuses a key that somebody else has used with another body, by the same 422 as it does
    an input: that says nothing about the input, nor does an answer that is not paid for.
    """
    if code == Problem.KEY_REUSED.code:
        return FailureReason.HTTP_ERROR
    if code == Problem.OUTPUT_TOO_LARGE.code:
        return FailureReason.OUTPUT_TOO_LARGE
    if status == Problem.TIMED_OUT.status and code == Problem.TIMED_OUT.code:
        return FailureReason.TIMED_OUT
    return _REASONS.get(status, FailureReason.HTTP_ERROR)
