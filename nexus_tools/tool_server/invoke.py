"""The endpoint `POST /invoke`, which reads the input and runs the tool within its timeout.

The endpoint is a plain ASGI application, because it is the hot path of a server.
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
from nexus_tools.tool_server.idempotency_cache import IdempotencyCache
from nexus_tools.tool_server.request import (
    ClientGoneError,
    InvokeHeaders,
    body_part,
    check_length,
    read_remaining_body,
)
from nexus_tools.tool_server.response import ProblemError, Response
from nexus_tools.tool_server.time_limit import TimeLimit
from nexus_tools.tool_server.user_traceback import error_summary, traceback_of

if TYPE_CHECKING:
    from nexus_tools.tool_server.signatures.signatures import SignatureGate, SignedCall

_log = get_logger("nexus_tools.tool_server")

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a server: the size of a body, the time to send it, and concurrent invocations.

    `max_receiving_bytes` is the maximum size of all incomplete bodies together.
    """

    max_body_bytes: int = 10 * 2**20
    max_receiving_bytes: int = 64 * 2**20
    max_running: int = 64
    body_timeout_s: float = 30.0
    retry_after_s: int = 1


class InvocationSlots:
    """The running invocations of a server, and whether the server accepts more invocations."""

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
            detail = f"{self.running} invocations are running, which is the limit of this server"
            raise self._problem(Problem.BUSY, detail)

    async def receive(self, receive: Receive, first: bytes) -> bytes:
        """Return the whole body of a request that arrives in parts. `first` is the first part.

        A request does not hold a slot while its body arrives, because a few slow clients could
        otherwise block all other clients. Instead, the total size of incomplete bodies is limited.
        Raises the errors of `read_remaining_body`. If the invocation could not run, `ProblemError`
        503 or 429 is raised before the body is read.
        """
        self.check()
        reserved = 0

        def reserve(count: int) -> None:
            nonlocal reserved
            if self.receiving_bytes + count > self.limits.max_receiving_bytes:
                detail = "the server is receiving too many request bodies at once"
                raise self._problem(Problem.BUSY, detail, (b"connection", b"close"))
            reserved += count
            self.receiving_bytes += count

        limits = self.limits
        try:
            reserve(len(first))
            return await read_remaining_body(
                receive, first, limits.max_body_bytes, limits.body_timeout_s, reserve
            )
        finally:
            self.receiving_bytes -= reserved

    def not_ready(self, detail: str) -> ProblemError:
        """Return the problem with status 503, which means that the tool did not run."""
        return self._problem(Problem.NOT_READY, detail)

    def _problem(
        self, problem: Problem, detail: str, *headers: tuple[bytes, bytes]
    ) -> ProblemError:
        retry = (b"retry-after", str(self.limits.retry_after_s).encode())
        return ProblemError(problem, detail, headers=(retry, *headers))


class InvokeEndpoint:
    """The endpoint of one tool. The tools of a server share `slots` and `recent`."""

    def __init__(self, tool: Tool, slots: InvocationSlots, recent: IdempotencyCache) -> None:
        self._tool = tool
        self._name = str(tool.fqn)
        self._name_bytes = self._name.encode()
        self._slots = slots
        self._recent = recent
        self._time_limit = TimeLimit(tool.timeout_ms / 1_000)
        self._log = _log
        self.gate: SignatureGate | None = None
        self.include_cause = False

    def bind_log(self) -> None:
        """Bind the logger to structlog's current configuration, because looking it up is slow."""
        self._log = _log.bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one tool call.

        The steps of most calls are inlined here, because calling another coroutine would take as
        long as checking the input.
        """
        admitted: SignedCall | None = None
        signed: SignedCall | None = None
        try:
            head = InvokeHeaders.parse(scope["headers"])
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
                # The variable is set after `take`, so that the response to a replayed request is
                # not signed.
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
        detail = f"this tool is {self._name}, but {protocol.TOOL_HEADER} names a different tool"
        return ProblemError(Problem.TOOL_UNKNOWN, detail)

    async def _run_once(self, head: InvokeHeaders, body: bytes) -> Response:
        """Run the invocation, or return the stored response of an equal request.

        If a Leader repeats a request with another deadline, both requests are equal. Requests of
        different leaders are not equal, so only the leader that signed a request receives its
        response.
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

    def _arguments(self, head: InvokeHeaders, body: bytes) -> dict[str, Any]:
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

    async def _run(self, head: InvokeHeaders, body: bytes) -> Response:
        """Run the tool, and return its result or its error as a response.

        An error is also a response that is stored, so that the tool does not run twice.
        """
        arguments = self._arguments(head, body)
        started = perf_counter()
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
            except Exception as error:  # noqa: BLE001 - the author's code may raise anything
                return self._error_response(error, head, timed_out=limited.is_expired)
        # The level is debug, because logging would take a third of a busy server's time.
        self._log.debug(
            "invoked",
            tool=self._name,
            invocation=head.key,
            variant=answer.variant,
            ms=round((perf_counter() - started) * 1_000),
        )
        response = Response.of_answer(answer)
        limit = head.call.max_outcome_bytes
        # The on-chain size of an answer is at most twice the size of its JSON text, so few answers
        # need to be measured.
        if limit is not None and 2 * len(response.body) > limit:
            return _limit_outcome(limit, answer, response)
        return response

    def _error_response(
        self, error: Exception, head: InvokeHeaders, *, timed_out: bool
    ) -> Response:
        """Log the cause of a timeout or an exception of the tool, and return the response.

        The cause may contain file names and secrets, so the response omits it by default.
        """
        if timed_out:
            detail = f"the tool took longer than {self._tool.timeout_ms} ms"
            self._log.warning(Problem.TIMED_OUT.code, tool=self._name, invocation=head.key)
            return ProblemError(Problem.TIMED_OUT, detail).response()
        invalid = isinstance(error, ValidationError) and error.code == Problem.OUTPUT_INVALID.code
        problem = Problem.OUTPUT_INVALID if invalid else Problem.TOOL_RAISED
        # The traceback is logged as text. A log processor that renders an exception might also log
        # the values of variables. This package finds an invalid output after the author's function
        # returned, so a traceback would contain only frames of this package.
        is_ours = invalid and error.__cause__ is None
        cause = error_summary(error) if is_ours else traceback_of(error)
        self._log.error(problem.code, tool=self._name, invocation=head.key, cause=cause)
        detail = "the tool raised an exception. The operator's log contains the cause"
        if self.include_cause:
            detail = error_summary(error)
        return ProblemError(problem, detail).response()


def _limit_outcome(limit: int, answer: Answer, response: Response) -> Response:
    """Return the response, or a problem if the answer is larger than the requester pays for.

    The server reports this problem, so that a leader cannot falsely claim that an answer is too
    large.
    """
    try:
        size = outcome_bytes(answer)
    except ValidationError as error:
        return ProblemError(Problem.OUTPUT_TOO_LARGE, error.message).response()
    if size <= limit:
        return response
    detail = (
        f"the answer has {size} bytes, but only {limit} are paid for;"
        f" use --max-outcome-bytes {size} or more"
    )
    return ProblemError(Problem.OUTPUT_TOO_LARGE, detail).response()
