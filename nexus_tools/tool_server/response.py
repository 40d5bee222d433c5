"""The responses of a server: JSON, or a problem document (RFC 9457)."""

import json
from http import HTTPStatus
from typing import Any

from msgspec import Struct
from pydantic_core import to_json
from starlette.types import Message

from nexus_tools.tool import Answer, Problem, protocol

Headers = tuple[tuple[bytes, bytes], ...]

_JSON: Headers = ((b"content-type", protocol.JSON.encode()),)
_PROBLEM: Headers = ((b"content-type", protocol.PROBLEM_JSON.encode()),)


class Response(Struct, frozen=True, gc=False):
    """A complete HTTP response. `messages` adds the header `content-length`.

    Thousands are stored by idempotency key, so the garbage collector must not visit them.
    """

    status: int
    headers: Headers
    body: bytes

    @classmethod
    def of_answer(cls, answer: Answer) -> "Response":
        """Return the response for a checked answer of a tool."""
        return cls(200, _JSON, to_json(answer.as_json(), inf_nan_mode="constants"))

    @classmethod
    def of_problem(
        cls,
        status: HTTPStatus,
        code: str,
        detail: str,
        *,
        errors: list[dict[str, str]] | None = None,
        headers: Headers = (),
    ) -> "Response":
        """Return a problem document. `code` is a stable identifier for programs."""
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status.value,
            "detail": detail,
            "code": code,
        }
        if errors is not None:
            document["errors"] = errors
        return cls(status.value, (*_PROBLEM, *headers), _encoded(document))

    def messages(self) -> tuple[Message, Message]:
        """Return the start message and the body message for the ASGI server."""
        headers = [*self.headers, (b"content-length", b"%d" % len(self.body))]
        start = {"type": "http.response.start", "status": self.status, "headers": headers}
        return start, {"type": "http.response.body", "body": self.body}


class ProblemError(Exception):
    """An error that ends a request with a problem document.

    `code` replaces the code of `problem`, for example with the code that a tool chose for an
    invalid input. `errors` are the problems in the input. Each error has a JSON pointer as a URI
    fragment (RFC 6901, section 6).
    """

    def __init__(
        self,
        problem: Problem,
        detail: str,
        *,
        code: str = "",
        errors: list[dict[str, str]] | None = None,
        headers: Headers = (),
    ) -> None:
        super().__init__(detail)
        self.status = problem.status
        self.code = code or problem.code
        self.detail = detail
        self.errors = errors
        self.headers = headers

    def response(self) -> Response:
        """Return the problem document."""
        return Response.of_problem(
            self.status, self.code, self.detail, errors=self.errors, headers=self.headers
        )


def _encoded(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A detail may quote a lone surrogate, which UTF-8 cannot encode.
    return text.encode("utf-8", "replace")
