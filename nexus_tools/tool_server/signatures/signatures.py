"""The verification of signed tool calls, and the signing of responses."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from time import time
from typing import NamedTuple

from starlette.types import Scope

from nexus_tools.errors import UsageError
from nexus_tools.tool import (
    SIGNATURE_HEADERS,
    Identity,
    Keys,
    KnownKeys,
    Problem,
    SignatureRejectedError,
    SignedRequest,
    SigningKey,
    check_body,
    check_request,
    covered_fields,
    is_signed,
    protocol,
    sign_response,
)
from nexus_tools.tool_server.base import Call, NotReadyError
from nexus_tools.tool_server.response import ProblemError, Response
from nexus_tools.tool_server.signatures.nonces import (
    MemoryNonceStore,
    NonceStore,
    NonceStoreFullError,
)
from nexus_tools.tool_server.signatures.unsettled_answers import UnsettledAnswers

# ASGI passes the names of headers as bytes in lower case.
_NAMES = {name.encode(): name for name in SIGNATURE_HEADERS}
# Proxies may also sign, so repeated lines of these fields form one list (RFC 9110, section 5.3).
_LISTS = {
    protocol.SIGNATURE_HEADER.lower(),
    protocol.SIGNATURE_INPUT_HEADER.lower(),
    protocol.CONTENT_DIGEST_HEADER.lower(),
}
# RFC 9110 requires this header with status 401.
_CHALLENGE = (b"www-authenticate", b"Signature")
_DIGEST = protocol.CONTENT_DIGEST_HEADER.lower()
_INVOCATION = protocol.INVOCATION_HEADER.lower()


class SignatureMode(StrEnum):
    """The policy of a server for the signatures of calls.

    `OFF` ignores signatures, `OPTIONAL` verifies the signatures of signed calls, and `REQUIRED`
    also rejects unsigned calls.
    """

    OFF = "off"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class SignaturePolicy:
    """The configuration of signatures.

    `leaders` contains the accepted leaders with their current keys, for all tools or by FQN. `key`
    signs the responses to signed calls for every tool. `clock` returns seconds since 1970.

    `refresh_keys` is awaited with a signer before the server rejects an unknown signer or key.
    `refresh_keys` may raise `NotReadyError`. `authorize` is awaited with the FQN and each signed
    call. `authorize` may raise `NotReadyError` or `NotAuthorizedError`.

    `is_key_trusted` returns whether callers trust `key` for the tool with an FQN. While callers do
    not trust the key, signed calls are rejected. Leaders could not settle with the answer, and the
    answer must not count as unpaid.

    All processes of one server share `nonces` (see `SqliteNonceStore`) and `answers`. If signatures
    are required, leaders with unpaid `answers` are rejected. If signatures are optional, anyone can
    make unsigned calls in the name of a leader, so answers are not counted.
    """

    mode: SignatureMode | str = SignatureMode.REQUIRED
    leaders: Keys | Mapping[str, Keys] = field(default_factory=lambda: KnownKeys({}))
    key: SigningKey | None = None
    nonces: NonceStore = field(default_factory=MemoryNonceStore)
    answers: UnsettledAnswers = field(default_factory=UnsettledAnswers)
    refresh_keys: Callable[[str], Awaitable[None]] | None = None
    authorize: Callable[[str, Call], Awaitable[None]] | None = None
    is_key_trusted: Callable[[str], bool] | None = None
    clock: Callable[[], float] = time


class SignedCall(NamedTuple):
    """A tool call with a verified signature, whose body has not arrived yet."""

    gate: "SignatureGate"
    request: SignedRequest
    headers: dict[str, str]
    arrived_s: float

    def take(self, body: bytes) -> None:
        """Verify the body, and record the call to accept it only once. Raises `ProblemError`."""
        signatures, request = self.gate.signatures, self.request
        now_s = signatures.clock()
        try:
            check_body(body, self.headers)
            is_new = signatures.nonces.take(
                request.signer, request.nonce, request.nonce_expires_s, now_s
            )
        except SignatureRejectedError as error:
            raise _problem(error.problem, error.detail) from error
        except NonceStoreFullError as error:
            raise ProblemError(Problem.BUSY, str(error), headers=_RETRY_SOON) from error
        if not is_new:
            raise _problem(Problem.SIGNATURE_REPLAYED, "this request was already received")
        if self.gate.is_required:
            invocation, digest = self.headers[_INVOCATION], self.headers[_DIGEST]
            if not signatures.answers.record_call(request.signer, invocation, digest, now_s):
                detail = "this leader sent a different body for the same invocation"
                raise ProblemError(Problem.KEY_REUSED, detail)

    def finish(self, response: Response, asked: bytes, deadline: datetime | None) -> Response:
        """Return the response to the request body `asked`, signed if the tool has a key.

        If signatures are required, an answer after the deadline becomes a problem. Answers in time
        count as unpaid until they are settled.
        """
        identity, signatures = self.gate.identity, self.gate.signatures
        now_s = signatures.clock()
        if response.status == HTTPStatus.OK and not self.gate.is_key_trusted:
            response = _not_believed().response()
        if self.gate.is_required:
            if deadline is not None and self._is_late(now_s, deadline):
                detail = f"the answer was ready only after {protocol.DEADLINE_HEADER}"
                response = ProblemError(Problem.TIMED_OUT, detail).response()
            is_answer = response.status == HTTPStatus.OK
            leader, invocation = self.request.signer, self.headers[_INVOCATION]
            signatures.answers.record_answer(leader, invocation, has_answer=is_answer)
        if identity is None:
            return response
        content = (response.status, response.body, self.headers)
        signature_headers = sign_response(identity, *content, asked=asked, now_s=now_s)
        encoded = [(name.encode(), value.encode()) for name, value in signature_headers.items()]
        return Response(response.status, (*response.headers, *encoded), response.body)

    def _is_late(self, now_s: float, deadline: datetime) -> bool:
        """Return whether the deadline has passed, after which the leader no longer waits.

        The time between signing and deadline on the leader's clock is compared with the time since
        the arrival on the server's clock. Therefore the comparison does not depend on the
        difference between the clocks.
        """
        return now_s - self.arrived_s > deadline.timestamp() - self.request.created_s


_RETRY_SOON = ((b"retry-after", b"1"),)


class _UnknownSignerError(ProblemError):
    """The rejection of an unknown signer or key, after which an outdated key list is refreshed."""

    def __init__(self, error: SignatureRejectedError) -> None:
        super().__init__(error.problem, error.detail, headers=_challenge(error.problem))
        self.signer = error.unknown


class SignatureGate:
    """The check of calls to one tool before they run.

    `root_url` is the registered root of the server.
    """

    def __init__(self, signatures: SignaturePolicy, tool: str, root_url: str) -> None:
        self.signatures = signatures
        self.tool = tool
        self.identity = Identity(tool, signatures.key) if signatures.key else None
        self.is_required = signatures.mode == SignatureMode.REQUIRED
        leaders = signatures.leaders
        self._leaders = leaders[tool] if isinstance(leaders, Mapping) else leaders
        self._root_url = root_url

    def admit(self, scope: Scope) -> SignedCall | None:
        """Verify the headers of a call before its body is read. Raises `ProblemError`.

        Return None for an unsigned call if signatures are not required.
        """
        headers, repeated = _read(scope["headers"])
        headers |= _other_fields(scope["headers"], covered_fields(headers))
        if not self.is_required and not is_signed(headers):
            return None
        if repeated:
            raise _problem(Problem.SIGNATURE_MALFORMED, f"the header {repeated} occurs twice")
        url, now_s = self._url(scope), self.signatures.clock()
        try:
            request = check_request(url, scope["method"], headers, self._leaders, now_s)
        except SignatureRejectedError as error:
            if error.unknown:
                raise _UnknownSignerError(error) from error
            raise _problem(error.problem, error.detail) from error
        if not self.is_key_trusted:
            raise _not_believed()
        if self.is_required and (reason := self.signatures.answers.refusal(request.signer)):
            raise ProblemError(Problem.ANSWERS_UNPAID, reason)
        if request.created_s < int(self.signatures.nonces.since_s):
            # A previous process of the server may have accepted this request.
            detail = "the request was signed before this server started. Sign it again"
            raise ProblemError(Problem.NOT_READY, detail, headers=_RETRY_SOON)
        return SignedCall(self, request, headers, now_s)

    async def admit_again(self, scope: Scope, refused: ProblemError) -> SignedCall | None:
        """Verify a call again after refreshing the keys of an unknown signer.

        Raises the errors of `admit`, or `refused` if the keys cannot be refreshed.
        """
        if not isinstance(refused, _UnknownSignerError) or self.signatures.refresh_keys is None:
            raise refused
        try:
            await self.signatures.refresh_keys(refused.signer)
        except NotReadyError as error:
            raise ProblemError(Problem.NOT_READY, str(error), headers=_RETRY_SOON) from error
        return self.admit(scope)

    @property
    def is_key_trusted(self) -> bool:
        """Whether callers trust the server's key for this tool."""
        callback = self.signatures.is_key_trusted
        return callback is None or callback(self.tool)

    async def authorize(self, call: Call) -> None:
        """Check a signed call with the `authorize` callback of the configuration.

        Raises `NotAuthorizedError` or `NotReadyError`.
        """
        if call.leader is not None and self.signatures.authorize is not None:
            await self.signatures.authorize(self.tool, call)

    def _url(self, scope: Scope) -> str:
        """Return the URL of the call, based on the server's root URL and not on headers."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        query = scope.get("query_string", b"").decode("latin-1")
        return protocol.endpoint(self._root_url, path) + (f"?{query}" if query else "")


def gate(signatures: SignaturePolicy, tool: str, root_url: str | None) -> SignatureGate | None:
    """Return the gate of a tool, or None if signatures are off.

    Raises `signatures_invalid` or `public_url_missing`.
    """
    try:
        mode = SignatureMode(signatures.mode)
    except ValueError:
        known = ", ".join(SignatureMode)
        message = f"{signatures.mode!r} is not a valid signature mode"
        raise UsageError("signatures_invalid", message, hint=f"Choose one of {known}.") from None
    if mode is SignatureMode.OFF:
        return None
    if root_url is None:
        raise UsageError(
            "public_url_missing",
            "verifying signatures requires the URL at which the server is registered",
            hint="Set the public URL (`--public-url`), for example https://tools.example.com.",
        )
    return SignatureGate(signatures, tool, root_url)


def _read(headers: Iterable[tuple[bytes, bytes]]) -> tuple[dict[str, str], str]:
    """Return the headers that signatures must cover, and the name of a wrongly repeated header.

    The name is empty if no header is repeated. A repeated header is ambiguous, because some
    programs use its first line, and other programs use its last line.
    """
    fields: dict[str, str] = {}
    repeated = ""
    for raw, value in headers:
        name = _NAMES.get(raw)
        if name is None:
            continue
        text = value.decode("latin-1").strip(" \t")
        if name in fields and name not in _LISTS:
            repeated = name
        fields[name] = f"{fields[name]}, {text}" if name in fields else text
    return fields, repeated


def _other_fields(headers: Iterable[tuple[bytes, bytes]], names: frozenset[str]) -> dict[str, str]:
    """Return the fields with these names. Repeated lines are joined (RFC 9421, section 2.1)."""
    fields: dict[str, str] = {}
    if not names:
        return fields
    for raw, value in headers:
        name, text = raw.decode("latin-1"), value.decode("latin-1").strip(" \t")
        if name in names:
            fields[name] = f"{fields[name]}, {text}" if name in fields else text
    return fields


def _not_believed() -> ProblemError:
    detail = "the server's key is not one of the tool's on-chain keys"
    return ProblemError(Problem.KEY_NOT_ON_CHAIN, detail, headers=_RETRY_SOON)


def _problem(problem: Problem, detail: str) -> ProblemError:
    return ProblemError(problem, detail, headers=_challenge(problem))


def _challenge(problem: Problem) -> tuple[tuple[bytes, bytes], ...]:
    return (_CHALLENGE,) if problem.status == HTTPStatus.UNAUTHORIZED else ()
