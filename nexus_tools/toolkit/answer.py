"""What a server sends back: JSON, or a problem document (RFC 9457)."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pydantic_core import to_json
from starlette.types import Send

from nexus_tools.tool import Outcome

Headers = tuple[tuple[bytes, bytes], ...]

_JSON: Headers = ((b"content-type", b"application/json"),)
_PROBLEM = b"application/problem+json"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP response; `headers` has no content-length, which is added when it is sent."""

    status: int
    headers: Headers
    body: bytes

    @classmethod
    def of_outcome(cls, outcome: Outcome) -> "Answer":
        """What a tool answers, which has been checked and is JSON."""
        return cls(200, _JSON, to_json(outcome.as_json(), inf_nan_mode="constants"))

    async def send(self, send: Send) -> None:
        """Write the response to the ASGI server."""
        headers = [*self.headers, (b"content-length", b"%d" % len(self.body))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class ProblemError(Exception):
    """Ends a request with a problem document.

    `code` is a stable word for programs, `errors` the places in the input that are wrong, each
    with a JSON pointer as URI fragment (RFC 6901, section 6).
    """

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        detail: str,
        *,
        errors: list[dict[str, str]] | None = None,
        headers: Headers = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.headers = headers

    def answer(self) -> Answer:
        """The problem document."""
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": self.status.value,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors is not None:
            document["errors"] = self.errors
        headers = ((b"content-type", _PROBLEM), *self.headers)
        return Answer(self.status.value, headers, _encoded(document))


def _encoded(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A detail may quote half a surrogate pair, which UTF-8 cannot carry.
    return text.encode("utf-8", "replace")
