"""The signatures of tool calls: a Leader signs its request, and a tool signs its response.

Both signatures follow RFC 9421 with Ed25519 and the label `nexus`. Both signatures cover a digest
of the body (RFC 9530). A signed request is not valid for another tool, URL, body or time. A signed
request is valid only once, because its recipient stores the nonce until it expires. A signed
response is not valid for another request.

The signature of a request covers the registered URL of the tool. A server compares this URL with
its own public URL. The server never uses `Host` or forwarded headers, which are not trustworthy.
"""

import re
import secrets
from collections.abc import Collection, Mapping
from typing import NamedTuple

from nexus_tools.tool import protocol
from nexus_tools.tool.outcome import Answer, OutcomeSignature
from nexus_tools.tool.protocol import Problem
from nexus_tools.tool.signing.http_signatures import (
    Component,
    ComponentKey,
    MalformedError,
    SignatureInput,
    content_digest,
    format_bytes_item,
    matches_digest,
    read_input,
    read_signature,
    signature_member,
)
from nexus_tools.tool.signing.request_components import request_value, target_uri
from nexus_tools.tool.signing.signed_outcome import outcome_header, read_outcome_signature
from nexus_tools.tool.signing.signing_key import Identity, Keys, SigningKey, parse_key_id, verifies

LABEL = "nexus"
LIFETIME_S = 30
"""The time after signing for which `sign_request` makes a request valid, in seconds."""

MAX_LIFETIME_S = 300
"""The maximum validity of a request, in seconds. A server stores the nonce during this time."""

CLOCK_SKEW_S = 30
"""The allowed difference between the clocks of signer and server, in seconds."""

_LABEL_PATTERN = re.compile(rf"(?:^|[,\s]){LABEL}=")
_NONCE_BYTES = 16
_MAX_NONCE_LENGTH = 64

_DIGEST = protocol.CONTENT_DIGEST_HEADER.lower()
_INPUT = protocol.SIGNATURE_INPUT_HEADER.lower()
_SIGNATURE = protocol.SIGNATURE_HEADER.lower()
_INVOCATION = protocol.INVOCATION_HEADER.lower()
_TOOL = protocol.TOOL_HEADER.lower()

COVERED = (
    "@method",
    "@target-uri",
    _DIGEST,
    _INVOCATION,
    _TOOL,
    protocol.DEADLINE_HEADER.lower(),
    protocol.MAX_OUTCOME_BYTES_HEADER.lower(),
)
"""The minimum set of components that the signature of a request must cover."""

_COVERED_KEYS: frozenset[ComponentKey] = frozenset((name, frozenset()) for name in COVERED)

_REQUEST_COMPONENTS = f"({' '.join(f'{chr(34)}{name}{chr(34)}' for name in COVERED)})"
_OF_REQUEST = (_INVOCATION, _TOOL, _DIGEST)
_OUTCOME = protocol.OUTCOME_SIGNATURE_HEADER.lower()
_RESPONSE_COMPONENTS = (
    f'"@status" "{_DIGEST}"'
    f"{''.join(f' {chr(34)}{name}{chr(34)};req' for name in _OF_REQUEST)}"
    f' "{_SIGNATURE}";req;key="{LABEL}"'
)

SIGNATURE_HEADERS = frozenset((*COVERED[2:], _INPUT, _SIGNATURE))
"""The headers, in lower case, that a server needs to verify the signature of a request."""

_OUR_INPUT = f"{LABEL}={_REQUEST_COMPONENTS};"


class SignatureRejectedError(Exception):
    """The error for a message without a valid signature.

    `problem` is a stable code for programs, and `detail` is a message for users. If the signer or
    its key is not listed, `unknown` is the signer.
    """

    def __init__(self, problem: Problem, detail: str, unknown: str = "") -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail
        self.unknown = unknown


class SignedRequest(NamedTuple):
    """The signature parameters of a verified request. Times are seconds since 1970."""

    signer: str
    nonce: str
    created_s: int
    nonce_expires_s: int
    """The time until which another request with this nonce must be rejected."""


# --- Requests


def sign_request(
    identity: Identity, url: str, headers: Mapping[str, str], body: bytes, now_s: float
) -> dict[str, str]:
    """Return the headers that sign a `POST url` request, with a new random nonce.

    `headers` are the headers of a tool call, with names in lower case. The headers must include all
    headers in `COVERED` except the digest, which is added here.
    """
    created = int(now_s)
    nonce = secrets.token_urlsafe(_NONCE_BYTES)
    text = (
        f"{_REQUEST_COMPONENTS};created={created};expires={created + LIFETIME_S}"
        f';nonce="{nonce}";keyid="{identity.key_id}"'
    )
    digest = content_digest(body)
    values = (protocol.INVOKE_METHOD, target_uri(url), digest, *(headers[n] for n in COVERED[3:]))
    lines = [f'"{name}": {value}' for name, value in zip(COVERED, values, strict=True)]
    return _signed(identity.key, digest, text, "\n".join(lines))


def is_signed(headers: Mapping[str, str]) -> bool:
    """Return whether `Signature` or `Signature-Input` contains a signature with our label."""
    return any(_LABEL_PATTERN.search(headers.get(name, "")) for name in (_INPUT, _SIGNATURE))


def covered_fields(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the fields that a signature covers in addition to `SIGNATURE_HEADERS`.

    If the headers are malformed, the result is empty, and `check_request` rejects them.
    """
    field = headers.get(_INPUT, "")
    if not field or field.startswith(_OUR_INPUT):
        return frozenset()
    try:
        signature_input = read_input(field, LABEL)
    except MalformedError:
        return frozenset()
    names = (
        [component.name for component in signature_input.components]
        if signature_input is not None
        else []
    )
    return frozenset(name for name in names if not name.startswith("@")) - SIGNATURE_HEADERS


def check_request(
    url: str, method: str, headers: Mapping[str, str], leaders: Keys, now_s: float
) -> SignedRequest:
    """Verify the signature of a request to `url`, but not yet its body and its nonce.

    `headers` contains the `SIGNATURE_HEADERS` and `covered_fields` of the request. The cheapest
    checks come first, so no signature of an unlisted signer is verified. Raises
    `SignatureRejectedError`.
    """
    try:
        signature_input, signature = _read(headers, f"sign the request with the label {LABEL}")
        _check_covered(signature_input)
        created, expires, nonce = _check_parameters(signature_input, now_s)
        signer, public_key = _known_key(signature_input, leaders)
        base = signature_input.base(
            lambda component: request_value(component, url, method, headers)
        )
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_MALFORMED, str(error)) from error
    if not verifies(public_key, signature, base):
        detail = f"the signature does not match this request to {target_uri(url)}"
        raise _refused(Problem.SIGNATURE_INVALID, detail)
    return SignedRequest(signer, nonce, created, expires + CLOCK_SKEW_S)


def check_body(body: bytes, headers: Mapping[str, str]) -> None:
    """Compare a body with the signed digest. Raises `SignatureRejectedError`."""
    try:
        matches = matches_digest(body, headers.get(_DIGEST, ""))
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_MALFORMED, str(error)) from error
    if not matches:
        detail = f"the body does not match the digest in {protocol.CONTENT_DIGEST_HEADER}"
        raise _refused(Problem.DIGEST_MISMATCH, detail)


def _check_covered(signature_input: SignatureInput) -> None:
    missing = _COVERED_KEYS - signature_input.covered.keys
    if missing:
        names = ", ".join(name for name in COVERED if (name, frozenset()) in missing)
        raise MalformedError(f"the signature does not cover {names}")


def _check_parameters(signature_input: SignatureInput, now_s: float) -> tuple[int, int, str]:
    """Return creation and expiry time, and the nonce, after checking them.

    Raises `MalformedError` or `SignatureRejectedError`.
    """
    parameters = signature_input.parameters
    created, expires, nonce = (parameters.get(name) for name in ("created", "expires", "nonce"))
    if type(created) is not int or type(expires) is not int:
        raise MalformedError("created or expires is missing or not an integer")
    if not isinstance(nonce, str) or not 1 <= len(nonce) <= _MAX_NONCE_LENGTH:
        raise MalformedError(f"the nonce must have 1 to {_MAX_NONCE_LENGTH} characters")
    if not created < expires <= created + MAX_LIFETIME_S:
        raise MalformedError(f"the validity must be 1 to {MAX_LIFETIME_S} s")
    if created > now_s + CLOCK_SKEW_S:
        detail = (
            f"the request was signed {created - now_s:.0f} s in the future by the clock of this"
            " server"
        )
        raise _refused(Problem.SIGNATURE_FROM_FUTURE, detail)
    if now_s >= expires + CLOCK_SKEW_S:
        detail = f"the request expired {now_s - expires:.0f} s ago by the clock of this server"
        raise _refused(Problem.SIGNATURE_EXPIRED, detail)
    return created, expires, nonce


def _key_of(signature_input: SignatureInput) -> tuple[str, bytes]:
    key_id = parse_key_id(str(signature_input.parameters.get("keyid", "")))
    if key_id is None:
        raise MalformedError("keyid is not of the form SIGNER#ed25519:KEY")
    return key_id


def _known_key(signature_input: SignatureInput, leaders: Keys) -> tuple[str, bytes]:
    """Return the signer and its key if they are listed.

    Raises `MalformedError` or `SignatureRejectedError`.
    """
    signer, key = _key_of(signature_input)
    known = leaders(signer)
    if known is None:
        detail = f"this tool does not accept the leader {signer}"
        raise SignatureRejectedError(Problem.LEADER_NOT_ACCEPTED, detail, unknown=signer)
    if key not in known:
        detail = f"the key of this signature is not a current key of {signer}"
        raise SignatureRejectedError(Problem.KEY_UNKNOWN, detail, unknown=signer)
    return signer, key


# --- Responses


def sign_response(
    identity: Identity,
    status: int,
    body: bytes,
    request: Mapping[str, str],
    *,
    asked: bytes,
    now_s: float,
) -> dict[str, str]:
    """Return the headers that sign a response.

    `request` are the headers of the signed request, and `asked` is its body. An answer to an
    invocation gets another signature for the chain. See `signed_outcome`.
    """
    outcome = outcome_header(identity, status, body, request, asked=asked)
    text = f'{_response_components(outcome)};created={int(now_s)};keyid="{identity.key_id}"'
    digest = content_digest(body)
    of_request = [f'"{name}";req: {request[name]}' for name in _OF_REQUEST]
    member = signature_member(request[_SIGNATURE], LABEL)
    lines = [
        f'"@status": {status}',
        f'"{_DIGEST}": {digest}',
        *of_request,
        f'"{_SIGNATURE}";req;key="{LABEL}": {member}',
        *(f'"{name}": {value}' for name, value in outcome.items()),
    ]
    return outcome | _signed(identity.key, digest, text, "\n".join(lines))


def check_response(
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    request: Mapping[str, str],
    keys: Collection[bytes],
) -> None:
    """Verify that the response to a signed request is signed with one of the tool's `keys`.

    `headers` belong to the response and `request` to the request, with names in lower case. Raises
    `SignatureRejectedError`.
    """
    try:
        signature_input, signature = _read(headers, "the response is not signed")
        needed = _response_components(headers)
        expected = read_input(f"{LABEL}={needed}", LABEL)
        covers_all = expected is not None and expected.covered.keys <= signature_input.covered.keys
        _require(covers_all, f"the signature does not cover {needed}")
        signer, key = _key_of(signature_input)
        base = signature_input.base(
            lambda component: _of_response(component, status, headers, request)
        )
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_MALFORMED, str(error)) from error
    if signer != request[_TOOL] or key not in keys:
        detail = f"the key of this signature is not a current key of {request[_TOOL]}"
        raise _refused(Problem.KEY_UNKNOWN, detail)
    if not verifies(key, signature, base):
        raise _refused(Problem.SIGNATURE_INVALID, "the signature does not match this response")
    check_body(body, headers)


def check_answer(
    answer: Answer,
    headers: Mapping[str, str],
    request: Mapping[str, str],
    keys: Collection[bytes],
    *,
    asked: bytes,
) -> OutcomeSignature:
    """Verify and return the tool's signature of the answer for the chain.

    The signature must be made with one of `keys`. `asked` is the body of the request. Raises
    `SignatureRejectedError`.
    """
    try:
        return read_outcome_signature(answer, headers, request, keys, asked=asked)
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_INVALID, str(error)) from error


def _response_components(headers: Mapping[str, str]) -> str:
    """Return the components that the signature of a response with these headers covers."""
    outcome = f' "{_OUTCOME}"' if headers.get(_OUTCOME) else ""
    return f"({_RESPONSE_COMPONENTS}{outcome})"


def _of_response(
    component: Component, status: int, headers: Mapping[str, str], request: Mapping[str, str]
) -> str:
    """Return the value of a component in a response. Raises `MalformedError`."""
    if component.name == "@status" and not component.parameters:
        return str(status)
    if component.name == _SIGNATURE and component.parameters == {"req": True, "key": LABEL}:
        return signature_member(request[_SIGNATURE], LABEL)
    value = None
    if component.parameters in ({}, {"req": True}):
        value = (request if component.of_request else headers).get(component.name)
    if value is None:
        message = f"{component.identifier[:80]} is covered, but is missing from the response"
        raise MalformedError(f"{message} or not supported")
    return value


# --- Requests and responses


def _read(headers: Mapping[str, str], missing: str) -> tuple[SignatureInput, bytes]:
    """Return the signature input and the signature. `missing` is the error message if absent.

    Raises `MalformedError` or `SignatureRejectedError`.
    """
    signature_input = read_input(headers.get(_INPUT, ""), LABEL)
    signature = read_signature(headers.get(_SIGNATURE, ""), LABEL)
    if signature_input is None or signature is None:
        raise _refused(Problem.SIGNATURE_MISSING, missing)
    # The key determines the algorithm, so the sender cannot choose another one.
    _require(
        signature_input.parameters.get("alg", "ed25519") == "ed25519",
        "the algorithm is not ed25519",
    )
    return signature_input, signature


def _require(is_right: bool, problem_text: str) -> None:
    if not is_right:
        raise MalformedError(problem_text)


def _signed(key: SigningKey, digest: str, text: str, lines: str) -> dict[str, str]:
    signature = key.private.sign(f'{lines}\n"@signature-params": {text}'.encode("ascii"))
    return {
        _DIGEST: digest,
        _INPUT: f"{LABEL}={text}",
        _SIGNATURE: f"{LABEL}={format_bytes_item(signature)}",
    }


def _refused(problem: Problem, detail: str) -> SignatureRejectedError:
    return SignatureRejectedError(problem, detail)
