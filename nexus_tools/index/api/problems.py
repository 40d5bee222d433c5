"""Errors of the API as problem documents (RFC 9457)."""

from http import HTTPStatus

import msgspec
from starlette.responses import Response

from nexus_tools.errors import NexusError, NotFoundError, UsageError, ValidationError
from nexus_tools.tool import protocol

_MAX_DETAIL = 300


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem document (RFC 9457). `code` is a stable identifier for programs."""

    title: str
    status: int
    code: str
    detail: str
    hint: str = ""


class ProblemError(Exception):
    """An error that ends a request with a problem document."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        detail: str,
        *,
        hint: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(status.phrase, status.value, code, detail[:_MAX_DETAIL], hint)
        self.headers = headers

    def response(self) -> Response:
        """Return the problem document."""
        return Response(
            msgspec.json.encode(self.problem),
            self.problem.status,
            {**(self.headers or {}), "Cache-Control": "no-store"},
            protocol.PROBLEM_JSON,
        )


def parameter_invalid(detail: str) -> ProblemError:
    """Return the problem for a wrong parameter."""
    return ProblemError(
        HTTPStatus.BAD_REQUEST,
        "parameter_invalid",
        detail,
        hint="GET /openapi.json describes the parameters.",
    )


def problem_of(error: NexusError) -> ProblemError:
    """Return the problem for an error of the index.

    The message and the hint of an unusable index contain paths and commands for the operator, so
    clients receive only its code.
    """
    if error.code in ("cursor_invalid", "address_invalid"):
        return ProblemError(HTTPStatus.BAD_REQUEST, error.code, error.message, hint=error.hint)
    if isinstance(error, NotFoundError | UsageError | ValidationError) or error.code.startswith(
        "text_index"
    ):
        detail = "the index is not available now"
        hint = "Try again later."
        headers = {"Retry-After": "10"}
        status = HTTPStatus.SERVICE_UNAVAILABLE
        return ProblemError(status, error.code, detail, hint=hint, headers=headers)
    return internal_error()


def internal_error() -> ProblemError:
    """Return the problem for an unexpected error."""
    return ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", "the server failed")
