"""Under which address a server was reached, for the `url` in `/meta`."""

import re
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import Request

from nexus_tools.toolkit.answer import ProblemError

# A name or IPv4 address, or an IPv6 address in brackets; then perhaps a port.
_HOST = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
)


def request_origin(request: Request) -> str:
    """Scheme and host as the client sees them: behind a proxy, as `X-Forwarded-…` says.

    Raises `ProblemError` 400 when the headers say nothing or nonsense, since the answer repeats
    them.
    """
    host = _first(request.headers, "x-forwarded-host") or request.headers.get("host", "")
    scheme = _first(request.headers, "x-forwarded-proto") or request.url.scheme
    if not _HOST.fullmatch(host):
        raise _bad_header("the host of this request is missing or malformed")
    if scheme not in ("http", "https"):
        raise _bad_header("X-Forwarded-Proto is neither http nor https")
    return f"{scheme}://{host}"


def _first(headers: Headers, name: str) -> str:
    """The value that the proxy nearest to the client wrote, where several are in line."""
    return headers.get(name, "").split(",")[0].strip()


def _bad_header(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.BAD_REQUEST, "header_invalid", detail)
