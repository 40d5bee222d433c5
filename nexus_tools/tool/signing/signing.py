"""Signed tool calls: what a Leader signs of its request, and a tool of its response.

Both are signatures of RFC 9421 with Ed25519, under the label `nexus`, over a digest of the body
(RFC 9530). A request is worth nothing for another tool, URL, body or time, and nothing twice:
whoever accepts it keeps its nonce until it expires. A response is worth nothing for another
request.

The URL is the one that was registered. A server compares with where it knows itself to be reached,
and never with `Host` or what a proxy forwards, which anybody can write.
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
    MalformedError,
    SignatureInput,
    content_digest,
    has_digest,
    read_input,
    read_signature,
    signature_member,
    written_bytes,
)
from nexus_tools.tool.signing.request_components import request_value, target_uri
from nexus_tools.tool.signing.signed_outcome import outcome_header, read_outcome_signature
from nexus_tools.tool.signing.signing_key import Identity, Keys, SigningKey, parse_key_id, verifies

LABEL = "nexus"
LIFETIME_S = 30
"""How long a request is good for after it was signed."""

MAX_LIFETIME_S = 300
"""How long a request may be good for; its nonce is remembered for as long."""

CLOCK_SKEW_S = 30
"""How far the clocks of two machines may be apart."""

_OURS = re.compile(rf"(?:^|[,\s]){LABEL}=")
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
"""The components that every signature of a request covers; it may cover more."""

_REQUEST_COMPONENTS = f"({' '.join(f'{chr(34)}{name}{chr(34)}' for name in COVERED)})"
_OF_REQUEST = (_INVOCATION, _TOOL, _DIGEST)
_OUTCOME = protocol.OUTCOME_SIGNATURE_HEADER.lower()
_RESPONSE_COMPONENTS = (
    f'"@status" "{_DIGEST}"'
    f"{''.join(f' {chr(34)}{name}{chr(34)};req' for name in _OF_REQUEST)}"
    f' "{_SIGNATURE}";req;key="{LABEL}"'
)

READ_HEADERS = frozenset((*COVERED[2:], _INPUT, _SIGNATURE))
"""The headers of a request that its signature is about, in lower case."""

_OUR_INPUT = f"{LABEL}={_REQUEST_COMPONENTS};"


class RefusedSignatureError(Exception):
    """A message is not signed as it should be: why, for programs and for people.

    `unknown` is the signer, if it or its key is in no list.
    """

    def __init__(self, problem: Problem, detail: str, unknown: str = "") -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail
        self.unknown = unknown


class SignedRequest(NamedTuple):
    """What a request says of itself, once its signature is verified; seconds since 1970."""

    signer: str
    nonce: str
    created_s: int
    remember_until_s: int
    """Until when the same nonce has to be refused."""


# --- Requests


def sign_request(
    identity: Identity, url: str, headers: Mapping[str, str], body: bytes, now_s: float
) -> dict[str, str]:
    """The headers that make `POST url` a signed request, with a nonce that nobody has used.

    `headers` are those of a tool call, their names in lower case; all that `COVERED` names have to
    be there.
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
    """Whether a request means to be signed for us: what strips half of it does not undo that."""
    return any(_OURS.search(headers.get(name, "")) for name in (_INPUT, _SIGNATURE))


def covered_fields(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the fields that a signature covers besides `READ_HEADERS`.

    `headers` are as `check_request` takes them, which refuses what cannot be read here.
    """
    field = headers.get(_INPUT, "")
    if not field or field.startswith(_OUR_INPUT):
        return frozenset()
    try:
        given = read_input(field, LABEL)
    except MalformedError:
        return frozenset()
    names = [each.name for each in given.components] if given is not None else []
    return frozenset(name for name in names if not name.startswith("@")) - READ_HEADERS


def check_request(
    url: str, method: str, headers: Mapping[str, str], leaders: Keys, now_s: float
) -> SignedRequest:
    """Verify the signature of a request to `url`; `check_body` and the nonce are left to do.

    `headers` has `READ_HEADERS` and `covered_fields`, as far as they are there. The cheapest checks
    come first: a signer who is not in the list costs no verification. Raises
    `RefusedSignatureError`.
    """
    try:
        given, signature = _read(headers, f"sign the request, under the label {LABEL}")
        _check_covered(given)
        created, expires, nonce = _check_parameters(given, now_s)
        signer, public_key = _known_key(given, leaders)
        base = given.base(lambda each: request_value(each, url, method, headers))
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_MALFORMED, str(error)) from error
    if not verifies(public_key, signature, base):
        detail = f"the signature is not that of this request to {target_uri(url)}"
        raise _refused(Problem.SIGNATURE_INVALID, detail)
    return SignedRequest(signer, nonce, created, expires + CLOCK_SKEW_S)


def check_body(body: bytes, headers: Mapping[str, str]) -> None:
    """Compare a body with the digest that was signed. Raises `RefusedSignatureError`."""
    try:
        matches = has_digest(body, headers.get(_DIGEST, ""))
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_MALFORMED, str(error)) from error
    if not matches:
        detail = f"the body is not the one whose digest {protocol.CONTENT_DIGEST_HEADER} has"
        raise _refused(Problem.DIGEST_WRONG, detail)


def _check_covered(given: SignatureInput) -> None:
    names = {each.name for each in given.components if not each.parameters}
    missing = [name for name in COVERED if name not in names]
    if missing:
        raise MalformedError(f"the signature does not cover {', '.join(missing)}")


def _check_parameters(given: SignatureInput, now_s: float) -> tuple[int, int, str]:
    """From when to when it is good, and its nonce. Raises `MalformedError` or the refusal."""
    parameters = given.parameters
    created, expires, nonce = (parameters.get(name) for name in ("created", "expires", "nonce"))
    if type(created) is not int or type(expires) is not int:
        raise MalformedError("created and expires are missing, or no integers")
    if not isinstance(nonce, str) or not 1 <= len(nonce) <= _MAX_NONCE_LENGTH:
        raise MalformedError(f"there is no nonce of 1 to {_MAX_NONCE_LENGTH} characters")
    if not created < expires <= created + MAX_LIFETIME_S:
        raise MalformedError(f"it is not good for 1 to {MAX_LIFETIME_S} s")
    if created > now_s + CLOCK_SKEW_S:
        detail = f"it was signed {created - now_s:.0f} s from now by the clock of this server"
        raise _refused(Problem.SIGNATURE_FROM_FUTURE, detail)
    if now_s >= expires + CLOCK_SKEW_S:
        detail = f"it expired {now_s - expires:.0f} s ago by the clock of this server"
        raise _refused(Problem.SIGNATURE_EXPIRED, detail)
    return created, expires, nonce


def _key_of(given: SignatureInput) -> tuple[str, bytes]:
    found = parse_key_id(str(given.parameters.get("keyid", "")))
    if found is None:
        raise MalformedError("keyid is not of the form SIGNER#ed25519:KEY")
    return found


def _known_key(given: SignatureInput, leaders: Keys) -> tuple[str, bytes]:
    """Who signed, and with which key of theirs. Raises `MalformedError` or the refusal."""
    signer, key = _key_of(given)
    known = leaders(signer)
    if known is None:
        detail = f"this tool does not accept {signer}"
        raise RefusedSignatureError(Problem.LEADER_NOT_ACCEPTED, detail, unknown=signer)
    if key not in known:
        detail = f"{signer} has no such key now"
        raise RefusedSignatureError(Problem.KEY_UNKNOWN, detail, unknown=signer)
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
    """The headers that make a response signed.

    `request` are the headers of its signed request, `asked` is the body of that. An answer to an
    invocation is signed as it goes on chain, too: see `signed_outcome`.
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
    """Verify that a response to a request of ours is signed with one of the tool's `keys`.

    Both have the names of headers in lower case. Raises `RefusedSignatureError`.
    """
    try:
        given, signature = _read(headers, "the response is not signed")
        needed = _response_components(headers)
        expected = read_input(f"{LABEL}={needed}", LABEL)
        covers_all = expected is not None and _same(expected) <= _same(given)
        _require(covers_all, f"the signature does not cover {needed}")
        signer, key = _key_of(given)
        base = given.base(lambda each: _of_response(each, status, headers, request))
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_MALFORMED, str(error)) from error
    if signer != request[_TOOL] or key not in keys:
        raise _refused(Problem.KEY_UNKNOWN, f"the key is none that {request[_TOOL]} has now")
    if not verifies(key, signature, base):
        raise _refused(Problem.SIGNATURE_INVALID, "the signature is not that of this response")
    check_body(body, headers)


def check_answer(
    answer: Answer,
    headers: Mapping[str, str],
    request: Mapping[str, str],
    keys: Collection[bytes],
    *,
    asked: bytes,
) -> OutcomeSignature:
    """The signature that a response has of its answer for the chain, by one of the tool's `keys`.

    `asked` is the body of the request. Raises `RefusedSignatureError`.
    """
    try:
        return read_outcome_signature(answer, headers, request, keys, asked=asked)
    except MalformedError as error:
        raise _refused(Problem.SIGNATURE_INVALID, str(error)) from error


def _response_components(headers: Mapping[str, str]) -> str:
    """What the signature of a response with these headers covers."""
    outcome = f' "{_OUTCOME}"' if headers.get(_OUTCOME) else ""
    return f"({_RESPONSE_COMPONENTS}{outcome})"


def _same(given: SignatureInput) -> set[tuple[str, frozenset[tuple[str, int | str | bool]]]]:
    """Return the components, each the same in whatever order its parameters are."""
    return {(each.name, frozenset(each.parameters.items())) for each in given.components}


def _of_response(
    each: Component, status: int, headers: Mapping[str, str], request: Mapping[str, str]
) -> str:
    """Return the value of a component in a response. Raises `MalformedError`."""
    if each.name == "@status" and not each.parameters:
        return str(status)
    if each.name == _SIGNATURE and each.parameters == {"req": True, "key": LABEL}:
        return signature_member(request[_SIGNATURE], LABEL)
    value = None
    if each.parameters in ({}, {"req": True}):
        value = (request if each.of_request else headers).get(each.name)
    if value is None:
        message = f"{each.identifier[:80]} is covered, but the response does not have it"
        raise MalformedError(f"{message}, or it is not supported")
    return value


# --- Both


def _read(headers: Mapping[str, str], missing: str) -> tuple[SignatureInput, bytes]:
    """What is signed, and the signature. Raises `MalformedError` or the refusal."""
    given = read_input(headers.get(_INPUT, ""), LABEL)
    signature = read_signature(headers.get(_SIGNATURE, ""), LABEL)
    if given is None or signature is None:
        raise _refused(Problem.SIGNATURE_MISSING, missing)
    # The key says how it signs; a sender who says otherwise has no choice.
    _require(given.parameters.get("alg", "ed25519") == "ed25519", "the algorithm is not ed25519")
    return given, signature


def _require(is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise MalformedError(otherwise)


def _signed(key: SigningKey, digest: str, text: str, lines: str) -> dict[str, str]:
    signature = key.private.sign(f'{lines}\n"@signature-params": {text}'.encode("ascii"))
    return {
        _DIGEST: digest,
        _INPUT: f"{LABEL}={text}",
        _SIGNATURE: f"{LABEL}={written_bytes(signature)}",
    }


def _refused(problem: Problem, detail: str) -> RefusedSignatureError:
    return RefusedSignatureError(problem, detail)
