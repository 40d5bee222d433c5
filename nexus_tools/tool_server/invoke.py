"""`POST /invoke`: reads the input, runs the tool within its time, responds with its answer.

A plain ASGI application, because this is the path that is hot.
"""

from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.tool import Answer, Problem, outcome_bytes, parse_json, protocol
from nexus_tools.tool_server.base import NotAuthorizedError, NotReadyError, Tool
from nexus_tools.tool_server.idempotency_cache import RecentInvocations
from nexus_tools.tool_server.request import (
    ClientGoneError,
    InvokeHead,
    body_part,
    check_length,
    rest_of_body,
)
from nexus_tools.tool_server.response import ProblemError, Response
from nexus_tools.tool_server.time_limit import TimeLimit
from nexus_tools.tool_server.user_traceback import cause_of, traceback_of

if TYPE_CHECKING:
    from nexus_tools.tool_server.signatures.signatures import SignatureGate, SignedCall

_log = get_logger("nexus_tools.tool_server")

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server grants: bytes of a body, invocations at once, seconds to send a body.

    `max_receiving_bytes` bounds what is there of all bodies that have not come to their end.
    """

    max_body_bytes: int = 10 * 2**20
    max_receiving_bytes: int = 64 * 2**20
    max_running: int = 64
    body_timeout_s: float = 30.0
    retry_after_s: int = 1


class Slots:
    """How many invocations run on a server, and whether it takes more."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running = 0
        self.receiving_bytes = 0
        self.is_open = True

    def __enter__(self) -> None:
        self.check()
        self.running += 1

    def __exit__(self, *_: object) -> None:
        self.running -= 1

    def check(self) -> None:
        """Raise `ProblemError` 503 or 429 unless an invocation may run now."""
        if not self.is_open:
            raise self.not_ready("the tool is not ready")
        if self.running >= self.limits.max_running:
            detail = f"{self.running} invocations are running, which is all this server takes"
            raise self._problem(Problem.BUSY, detail)

    async def receive(self, receive: Receive, first: bytes) -> bytes:
        """The whole body of one that comes in parts, of which `first` is here.

        It takes no slot, or a few who send slowly would keep everybody out: what is bounded is the
        memory that unfinished bodies take together. Raises `ProblemError` as `rest_of_body`, and
        before anything is read, 503 or 429, if the invocation could not run.
        """
        self.check()
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if self.receiving_bytes + count > self.limits.max_receiving_bytes:
                detail = "the server receives as many bodies as it has room for"
                raise self._problem(Problem.BUSY, detail, (b"connection", b"close"))
            taken += count
            self.receiving_bytes += count

        limits = self.limits
        try:
            take(len(first))
            return await rest_of_body(
                receive, first, limits.max_body_bytes, limits.body_timeout_s, take
            )
        finally:
            self.receiving_bytes -= taken

    def not_ready(self, detail: str) -> ProblemError:
        """The problem 503: nothing has run."""
        return self._problem(Problem.NOT_READY, detail)

    def _problem(
        self, problem: Problem, detail: str, *headers: tuple[bytes, bytes]
    ) -> ProblemError:
        retry = (b"retry-after", str(self.limits.retry_after_s).encode())
        return ProblemError(problem, detail, headers=(retry, *headers))


class InvokeEndpoint:
    """The endpoint of one tool; `slots` and `recent` are shared by the tools of a server."""

    def __init__(self, tool: Tool, slots: Slots, recent: RecentInvocations) -> None:
        self._tool = tool
        self._name = str(tool.fqn)
        self._name_bytes = self._name.encode()
        self._slots = slots
        self._recent = recent
        self._time_limit = TimeLimit(tool.timeout_ms / 1_000)
        self._log = _log
        self.gate: SignatureGate | None = None
        self.tells_cause = False

    def bind_log(self) -> None:
        """Log as structlog is configured now: to find that out anew costs time in each call."""
        self._log = _log.bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one tool call.

        What nearly every call needs is done here and not in coroutines of its own: each costs as
        much as checking the input.
        """
        admitted: SignedCall | None = None
        signed: SignedCall | None = None
        try:
            head = InvokeHead.parse(scope["headers"])
            if head.tool is not None and head.tool != self._name_bytes:
                raise self._unknown_tool()
            if self.gate is not None:
                try:
                    admitted = self.gate.admit(scope)
                except ProblemError as problem:
                    admitted = await self.gate.admit_again(scope, problem)
                head = head.of_leader(admitted.request.signer if admitted else None)
            limits = self._slots.limits
            check_length(head.content_length, limits.max_body_bytes)
            body, is_complete = body_part(await receive(), limits.max_body_bytes)
            if not is_complete:
                body = await self._slots.receive(receive, body)
            if admitted is not None:
                admitted.take(body)
                # Not before: who replays a request gets no second response that is signed.
                signed = admitted
            if head.key is None:
                response = await self._run(head, body)
            else:
                response = await self._run_once(head, body)
        except ProblemError as problem:
            status = problem.status.value
            self._log.info("refused", tool=self._name, status=status, code=problem.code)
            response = problem.response()
        except ClientGoneError:
            return
        if signed is not None:
            response = signed.finish(response, body, head.call.deadline)
        start, content = response.messages()
        await send(start)
        await send(content)

    def _unknown_tool(self) -> ProblemError:
        detail = f"this is {self._name}, not the tool that {protocol.TOOL_HEADER} names"
        return ProblemError(Problem.TOOL_UNKNOWN, detail)

    async def _run_once(self, head: InvokeHead, body: bytes) -> Response:
        """Run the invocation, or give the response that the same request had before.

        The same is what a Leader repeats: its deadline may be another each time. A key is that of
        who signs: nobody else gets what was given under it.
        """
        content = body if len(body) < _DIGEST_BYTES else sha256(body).digest()
        call = head.call
        request = (self._name, head.key, call.leader, call.max_outcome_bytes, content)
        stored = self._recent.begin(request)
        if stored is not None:
            return stored
        try:
            response = await self._run(head, body)
        except BaseException:
            self._recent.abandon(request)
            raise
        self._recent.finish(request, response)
        return response

    def _arguments(self, head: InvokeHead, body: bytes) -> dict[str, Any]:
        try:
            return self._tool.arguments(parse_json(body), head.call, len(body))
        except ValidationError as error:
            failures = error.details.get("failures", [{"pointer": "", "message": error.message}])
            raise ProblemError(
                Problem.INPUT_INVALID,
                error.message,
                code=error.code,
                errors=[
                    {"pointer": "#" + failure["pointer"], "detail": failure["message"]}
                    for failure in failures
                ],
            ) from error

    async def _run(self, head: InvokeHead, body: bytes) -> Response:
        """Once the tool runs, what happens is its response, an error too: it is not run again."""
        arguments = self._arguments(head, body)
        began = perf_counter()
        with self._slots:
            limited = self._time_limit.start()
            try:
                with limited:
                    if self.gate is not None:
                        await self.gate.authorize(head.call)
                    await self._tool.check_authorized(head.call)
                    answer = await self._tool.answer(arguments)
            except NotAuthorizedError as error:
                raise ProblemError(Problem.CALL_NOT_AUTHORIZED, str(error)) from error
            except NotReadyError as error:
                raise self._slots.not_ready(str(error)) from error
            except Exception as error:  # noqa: BLE001 - the edge to an author's code
                return self._broken(error, head, timed_out=limited.is_expired)
        # For people who watch; of a busy server it would take a third of the time.
        self._log.debug(
            "invoked",
            tool=self._name,
            invocation=head.key,
            variant=answer.variant,
            ms=round((perf_counter() - began) * 1_000),
        )
        response = Response.of_answer(answer)
        limit = head.call.max_outcome_bytes
        # In few answers each character takes two bytes on chain: nearly none has to be measured.
        if limit is not None and 2 * len(response.body) > limit:
            return _within(limit, answer, response)
        return response

    def _broken(self, error: Exception, head: InvokeHead, *, timed_out: bool) -> Response:
        """The response when the tool is too slow or breaks; the cause stays in the server's log.

        It may name files and what they have to hide: only to its author it is told.
        """
        if timed_out:
            detail = f"the tool took longer than {self._tool.timeout_ms} ms"
            self._log.warning(Problem.TIMED_OUT.code, tool=self._name, invocation=head.key)
            return ProblemError(Problem.TIMED_OUT, detail).response()
        invalid = isinstance(error, ValidationError) and error.code == Problem.OUTPUT_INVALID.code
        problem = Problem.OUTPUT_INVALID if invalid else Problem.TOOL_BROKE
        # As text: log processors that render exceptions may print the values of variables.
        self._log.error(
            problem.code, tool=self._name, invocation=head.key, cause=traceback_of(error)
        )
        detail = "the tool broke; its operator finds the cause in the log"
        if self.tells_cause:
            detail = cause_of(error)
        return ProblemError(problem, detail).response()


def _within(limit: int, answer: Answer, response: Response) -> Response:
    """The response, unless its answer could not be settled: then the tool would work for nothing.

    Which leader fails the invocation for that is no matter of its own choice.
    """
    try:
        size = outcome_bytes(answer)
    except ValidationError as error:
        return ProblemError(Problem.OUTPUT_TOO_LARGE, error.message).response()
    if size <= limit:
        return response
    detail = (
        f"the answer has {size} bytes, {limit} are paid for: request it with"
        f" --max-outcome-bytes {size} or more"
    )
    return ProblemError(Problem.OUTPUT_TOO_LARGE, detail).response()
