"""Whether a server takes signed tool calls, whose, and how it signs what it responds with."""

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
    READ_HEADERS,
    Identity,
    Keys,
    KnownKeys,
    Problem,
    RefusedSignatureError,
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
from nexus_tools.tool_server.signatures.nonces import MemoryNonces, Nonces, NoncesFullError
from nexus_tools.tool_server.signatures.unsettled_answers import TakenAnswers

# ASGI has the names of headers in lower case, as bytes.
_NAMES = {name.encode(): name for name in READ_HEADERS}
# Several lines of these are one list (RFC 9110, section 5.3): proxies may sign, too.
_LISTS = {
    protocol.SIGNATURE_HEADER.lower(),
    protocol.SIGNATURE_INPUT_HEADER.lower(),
    protocol.CONTENT_DIGEST_HEADER.lower(),
}
# RFC 9110 wants it beside a 401.
_CHALLENGE = (b"www-authenticate", b"Signature")
_DIGEST = protocol.CONTENT_DIGEST_HEADER.lower()
_INVOCATION = protocol.INVOCATION_HEADER.lower()


class SignatureMode(StrEnum):
    """What a server does about signatures.

    `OFF` does not look at them, `OPTIONAL` verifies those that are there, `REQUIRED` refuses calls
    without one.
    """

    OFF = "off"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Signatures:
    """What a server does about signatures: `leaders` are whom it accepts, with their keys of now.

    They are those of all tools, or of each by its FQN. `look_again` is awaited with a signer that
    is not known, or has another key, before it is refused, and may raise `NotReadyError`.
    `authorize` is awaited with the FQN and each signed call, and may raise that, too, or
    `NotAuthorizedError`. `key` signs responses to signed calls, as each tool's; `is_believed` says
    of an FQN whether callers believe what it signs: while they do not, signed calls get no answer,
    for nobody could use it, and nobody should be blamed for that. `nonces` are shared
    by all processes of one server, see `SqliteNonces`, as are the `answers` by which leaders are
    refused where signatures are required: elsewhere a leader can call as anybody. `clock` gives
    seconds since 1970.
    """

    mode: SignatureMode | str = SignatureMode.REQUIRED
    leaders: Keys | Mapping[str, Keys] = field(default_factory=lambda: KnownKeys({}))
    key: SigningKey | None = None
    nonces: Nonces = field(default_factory=MemoryNonces)
    answers: TakenAnswers = field(default_factory=TakenAnswers)
    look_again: Callable[[str], Awaitable[None]] | None = None
    authorize: Callable[[str, Call], Awaitable[None]] | None = None
    is_believed: Callable[[str], bool] | None = None
    clock: Callable[[], float] = time


class SignedCall(NamedTuple):
    """A tool call whose signature is verified; its body is not here yet."""

    gate: "SignatureGate"
    request: SignedRequest
    headers: dict[str, str]
    arrived_s: float

    def take(self, body: bytes) -> None:
        """Take the whole call, once and never again. Raises `ProblemError`."""
        signatures, request = self.gate.signatures, self.request
        now_s = signatures.clock()
        try:
            check_body(body, self.headers)
            is_new = signatures.nonces.take(
                request.signer, request.nonce, request.remember_until_s, now_s
            )
        except RefusedSignatureError as error:
            raise _problem(error.problem, error.detail) from error
        except NoncesFullError as error:
            raise ProblemError(Problem.BUSY, str(error), headers=_SOON) from error
        if not is_new:
            raise _problem(Problem.SIGNATURE_REPLAYED, "this very request was here before")
        if self.gate.is_required:
            invocation, digest = self.headers[_INVOCATION], self.headers[_DIGEST]
            if not signatures.answers.begin(request.signer, invocation, digest, now_s):
                detail = "this leader has called with another body for the same invocation"
                raise ProblemError(Problem.KEY_REUSED, detail)

    def finish(self, response: Response, asked: bytes, deadline: datetime | None) -> Response:
        """The response to the body `asked`, signed with the tool's key if it has one.

        Where signatures are required, a leader takes an answer in time or not at all: it counts.
        """
        identity, signatures = self.gate.identity, self.gate.signatures
        now_s = signatures.clock()
        if response.status == HTTPStatus.OK and not self.gate.is_believed:
            response = _not_believed().response()
        if self.gate.is_required:
            if deadline is not None and self._is_late(now_s, deadline):
                detail = f"the answer came after {protocol.DEADLINE_HEADER}"
                response = ProblemError(Problem.TIMED_OUT, detail).response()
            is_answer = response.status == HTTPStatus.OK
            leader, invocation = self.request.signer, self.headers[_INVOCATION]
            signatures.answers.end(leader, invocation, has_answer=is_answer)
        if identity is None:
            return response
        to = (response.status, response.body, self.headers)
        signed = sign_response(identity, *to, asked=asked, now_s=now_s)
        added = tuple((name.encode(), value.encode()) for name, value in signed.items())
        return response._replace(headers=(*response.headers, *added))

    def _is_late(self, now_s: float, deadline: datetime) -> bool:
        """Whether the leader waits no more: by its own clock it gave so much time."""
        return now_s - self.arrived_s > deadline.timestamp() - self.request.created_s


_SOON = ((b"retry-after", b"1"),)


class _UnknownSignerError(ProblemError):
    """The signer or its key is in no list, which may be behind: whoever can looks again."""

    def __init__(self, error: RefusedSignatureError) -> None:
        super().__init__(error.problem, error.detail, headers=_challenge(error.problem))
        self.signer = error.unknown


class SignatureGate:
    """What stands before one tool: who is let through, to be run.

    `root_url` is where the root of the server is registered.
    """

    def __init__(self, signatures: Signatures, tool: str, root_url: str) -> None:
        self.signatures = signatures
        self.tool = tool
        self.identity = Identity(tool, signatures.key) if signatures.key else None
        self.is_required = signatures.mode == SignatureMode.REQUIRED
        leaders = signatures.leaders
        self._leaders = leaders[tool] if isinstance(leaders, Mapping) else leaders
        self._root_url = root_url

    def admit(self, scope: Scope) -> SignedCall | None:
        """Verify a call by its headers, before its body is read; None for one without a signature.

        Raises `ProblemError`.
        """
        headers, repeated = _read(scope["headers"])
        headers |= _also(scope["headers"], covered_fields(headers))
        if not self.is_required and not is_signed(headers):
            return None
        if repeated:
            raise _problem(Problem.SIGNATURE_MALFORMED, f"{repeated} is there twice")
        url, now_s = self._url(scope), self.signatures.clock()
        try:
            request = check_request(url, scope["method"], headers, self._leaders, now_s)
        except RefusedSignatureError as error:
            if error.unknown:
                raise _UnknownSignerError(error) from error
            raise _problem(error.problem, error.detail) from error
        if not self.is_believed:
            raise _not_believed()
        if self.is_required and (why := self.signatures.answers.refusal(request.signer)):
            raise ProblemError(Problem.ANSWERS_UNPAID, why)
        if request.created_s < int(self.signatures.nonces.since_s):
            # The process before this one may have taken it.
            detail = "it was signed before this server began: sign it anew"
            raise ProblemError(Problem.NOT_READY, detail, headers=_SOON)
        return SignedCall(self, request, headers, now_s)

    async def admit_again(self, scope: Scope, refused: ProblemError) -> SignedCall | None:
        """The same, once somebody has looked whether the signer has the key since.

        Raises as `admit`, and `refused` if there is nothing to look for.
        """
        if not isinstance(refused, _UnknownSignerError) or self.signatures.look_again is None:
            raise refused
        try:
            await self.signatures.look_again(refused.signer)
        except NotReadyError as error:
            raise ProblemError(Problem.NOT_READY, str(error), headers=_SOON) from error
        return self.admit(scope)

    @property
    def is_believed(self) -> bool:
        """Whether callers believe what the server signs as the tool."""
        asked = self.signatures.is_believed
        return asked is None or asked(self.tool)

    async def authorize(self, call: Call) -> None:
        """Ask whoever knows of the invocation of a signed call.

        Raises `NotAuthorizedError` or `NotReadyError`.
        """
        if call.leader is not None and self.signatures.authorize is not None:
            await self.signatures.authorize(self.tool, call)

    def _url(self, scope: Scope) -> str:
        """Where the call came to, by what the server knows of itself and not by its headers."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        query = scope.get("query_string", b"").decode("latin-1")
        return protocol.endpoint(self._root_url, path) + (f"?{query}" if query else "")


def gate(signatures: Signatures, tool: str, root_url: str | None) -> SignatureGate | None:
    """The gate of a tool; None where nobody looks at signatures.

    Raises `signatures_invalid` or `public_url_missing`.
    """
    try:
        mode = SignatureMode(signatures.mode)
    except ValueError:
        known = ", ".join(SignatureMode)
        message = f"{signatures.mode!r} is no way to treat signatures"
        raise UsageError("signatures_invalid", message, hint=f"choose from {known}") from None
    if mode is SignatureMode.OFF:
        return None
    if root_url is None:
        raise UsageError(
            "public_url_missing",
            "who verifies signatures has to know at which URL the server is registered",
            hint="give the public URL (`--public-url`), as in https://tools.example.com",
        )
    return SignatureGate(signatures, tool, root_url)


def _read(headers: Iterable[tuple[bytes, bytes]]) -> tuple[dict[str, str], str]:
    """The headers that signatures are about, and the name of one that is there twice and must not.

    Of two lines one program takes the first and another the last.
    """
    found: dict[str, str] = {}
    repeated = ""
    for raw, value in headers:
        name = _NAMES.get(raw)
        if name is None:
            continue
        text = value.decode("latin-1").strip(" \t")
        if name in found and name not in _LISTS:
            repeated = name
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found, repeated


def _also(headers: Iterable[tuple[bytes, bytes]], names: frozenset[str]) -> dict[str, str]:
    """Return the other fields that a signature covers; several lines are one (RFC 9421, 2.1)."""
    found: dict[str, str] = {}
    if not names:
        return found
    for raw, value in headers:
        name, text = raw.decode("latin-1"), value.decode("latin-1").strip(" \t")
        if name in names:
            found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def _not_believed() -> ProblemError:
    detail = "the tool has keys on chain, and that of its server is none of them"
    return ProblemError(Problem.KEY_NOT_ON_CHAIN, detail, headers=_SOON)


def _problem(problem: Problem, detail: str) -> ProblemError:
    return ProblemError(problem, detail, headers=_challenge(problem))


def _challenge(problem: Problem) -> tuple[tuple[bytes, bytes], ...]:
    return (_CHALLENGE,) if problem.status == HTTPStatus.UNAUTHORIZED else ()
