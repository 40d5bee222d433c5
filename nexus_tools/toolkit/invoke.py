"""`POST /invoke`: reads the input, runs the tool within its time, answers the outcome.

A plain ASGI application, because this is the path that is hot.
"""

import traceback
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from starlette.types import Receive, Scope, Send

from nexus_tools.errors import ValidationError
from nexus_tools.tool import parse_json
from nexus_tools.toolkit.answer import Answer, ProblemError
from nexus_tools.toolkit.recent import RecentInvocations
from nexus_tools.toolkit.request import ClientGoneError, InvokeHead, read_body
from nexus_tools.toolkit.time_limit import TimeLimit
from nexus_tools.toolkit.tool import Tool

_log = structlog.get_logger("nexus_tools.toolkit")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server grants: bytes of a body, invocations at once, seconds to send a body."""

    max_body_bytes: int = 10 * 2**20
    max_running: int = 64
    body_timeout_s: float = 30.0
    retry_after_s: int = 1


class Slots:
    """How many invocations run on a server, and whether it takes more."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running = 0
        self.is_open = True

    def __enter__(self) -> None:
        if not self.is_open:
            raise self._problem(
                HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", "the tool is not ready"
            )
        if self.running >= self.limits.max_running:
            detail = f"{self.running} invocations are running, which is all this server takes"
            raise self._problem(HTTPStatus.TOO_MANY_REQUESTS, "busy", detail)
        self.running += 1

    def __exit__(self, *_: object) -> None:
        self.running -= 1

    def _problem(self, status: HTTPStatus, code: str, detail: str) -> ProblemError:
        retry = ((b"retry-after", str(self.limits.retry_after_s).encode()),)
        return ProblemError(status, code, detail, headers=retry)


class InvokeEndpoint:
    """The endpoint of one tool; `slots` and `recent` are shared by the tools of a server."""

    def __init__(self, tool: Tool, slots: Slots, recent: RecentInvocations) -> None:
        self._tool = tool
        self._name = str(tool.fqn)
        self._slots = slots
        self._recent = recent
        self._time_limit = TimeLimit(tool.timeout_ms / 1_000)
        self._log = _log

    def bind_log(self) -> None:
        """Log as structlog is configured now: to find that out anew costs time in each call."""
        self._log = _log.bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            head = InvokeHead.parse(scope["headers"])
            self._check_tool(head)
            limits = self._slots.limits
            body = await read_body(
                receive, head.content_length, limits.max_body_bytes, limits.body_timeout_s
            )
            if head.key is None:
                answer = await self._run(head, body)
            else:
                answer = await self._run_once(f"{self._name} {head.key}", head, body)
        except ProblemError as problem:
            self._log.info(
                "refused", tool=self._name, status=problem.status.value, code=problem.code
            )
            answer = problem.answer()
        except ClientGoneError:
            return
        await answer.send(send)

    def _check_tool(self, head: InvokeHead) -> None:
        if head.tool is not None and head.tool != self._name:
            detail = f"this is {self._name}, not the tool that Nexus-Tool names"
            raise ProblemError(HTTPStatus.NOT_FOUND, "tool_unknown", detail)

    async def _run_once(self, key: str, head: InvokeHead, body: bytes) -> Answer:
        """Run the invocation, or give the answer that its key had before."""
        stored = self._recent.begin(key, body)
        if stored is not None:
            return stored
        try:
            answer = await self._run(head, body)
        except BaseException:
            self._recent.abandon(key)
            raise
        self._recent.finish(key, answer)
        return answer

    def _arguments(self, head: InvokeHead, body: bytes) -> dict[str, Any]:
        try:
            return self._tool.arguments(parse_json(body), head.call)
        except ValidationError as error:
            failures = error.details.get("failures", [{"pointer": "", "message": error.message}])
            raise ProblemError(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                error.code,
                error.message,
                errors=[
                    {"pointer": "#" + failure["pointer"], "detail": failure["message"]}
                    for failure in failures
                ],
            ) from error

    async def _run(self, head: InvokeHead, body: bytes) -> Answer:
        """Once the tool runs, what happens is its answer, an error too: it is not run again."""
        arguments = self._arguments(head, body)
        with self._slots:
            limited = self._time_limit.start()
            try:
                with limited:
                    outcome = await self._tool.run(arguments)
            except Exception as error:  # noqa: BLE001 - the edge to an author's code
                return self._broken(error, head, timed_out=limited.is_expired)
        self._log.debug("invoked", tool=self._name, invocation=head.key, variant=outcome.variant)
        return Answer.of_outcome(outcome)

    def _broken(self, error: Exception, head: InvokeHead, *, timed_out: bool) -> Answer:
        """The answer when the tool is too slow or breaks; what broke stays in the server's log."""
        if timed_out:
            detail = f"the tool took longer than {self._tool.timeout_ms} ms"
            self._log.warning("timed_out", tool=self._name, invocation=head.key)
            return ProblemError(HTTPStatus.GATEWAY_TIMEOUT, "timed_out", detail).answer()
        invalid = isinstance(error, ValidationError) and error.code == "output_invalid"
        code = "output_invalid" if invalid else "tool_broke"
        # As text: log processors that render exceptions may print the values of variables.
        cause = "".join(traceback.format_exception(error))
        self._log.error(code, tool=self._name, invocation=head.key, cause=cause)
        detail = "the tool broke; its operator finds the cause in the log"
        return ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, code, detail).answer()
