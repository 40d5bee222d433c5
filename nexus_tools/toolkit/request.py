"""One request to `/invoke`: its headers, and its body within a limit."""

import asyncio
import re
from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

from starlette.types import Message, Receive

from nexus_tools.toolkit.answer import ProblemError
from nexus_tools.toolkit.call import Call

_CONTENT_TYPE = b"content-type"
_CONTENT_LENGTH = b"content-length"
_CONTENT_ENCODING = b"content-encoding"
_INVOCATION = b"nexus-invocation"
_IDEMPOTENCY_KEY = b"idempotency-key"
_TOOL = b"nexus-tool"
_DEADLINE = b"nexus-deadline"
_MAX_OUTCOME_BYTES = b"nexus-max-outcome-bytes"

_FRAMING = frozenset((_CONTENT_TYPE, _CONTENT_LENGTH, _CONTENT_ENCODING))
_KNOWN = _FRAMING | {_INVOCATION, _IDEMPOTENCY_KEY, _TOOL, _DEADLINE, _MAX_OUTCOME_BYTES}
_JSON = b"application/json"
_KEY = re.compile(rb"[!-~]{1,255}")
_MEDIA_TYPE = re.compile(rb'\s*application/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)
_NUMBER_DIGITS = 18
_QUOTE = ord('"')

# What a caller says who says nothing.
_NO_CALL = Call()


class ClientGoneError(Exception):
    """The client closed the connection before its request was complete."""


class InvokeHead(NamedTuple):
    """The headers of an invocation that mean something here."""

    key: str | None
    tool: str | None
    content_length: int | None
    call: Call

    @classmethod
    def parse(cls, headers: Iterable[tuple[bytes, bytes]]) -> "InvokeHead":
        """Read the headers, or raise `ProblemError`: 415 for another media type, else 400."""
        known = {name: value for name, value in headers if name in _KNOWN}
        if known.get(_CONTENT_TYPE) != _JSON or _CONTENT_ENCODING in known:
            _check_media_type(known)
        content_length = _number(known, _CONTENT_LENGTH)
        if known.keys() <= _FRAMING:
            return cls(None, None, content_length, _NO_CALL)
        invocation = key = _key(known, _INVOCATION)
        if invocation is None:
            key = _key(known, _IDEMPOTENCY_KEY)
        elif _IDEMPOTENCY_KEY in known:
            # A Leader writes the same invocation in quotes.
            is_same = known[_IDEMPOTENCY_KEY] == b'"%b"' % known[_INVOCATION]
            if not is_same and _key(known, _IDEMPOTENCY_KEY) != invocation:
                raise _bad_header("Idempotency-Key and Nexus-Invocation differ")
        call = Call(invocation, _deadline(known), _number(known, _MAX_OUTCOME_BYTES))
        tool = known.get(_TOOL)
        return cls(key, None if tool is None else tool.decode("latin-1"), content_length, call)


async def read_body(receive: Receive, declared: int | None, limit: int, timeout_s: float) -> bytes:
    """The whole body, of at most `limit` bytes.

    Raises `ProblemError` 413 as soon as the body is known to be longer, and 408 when a body that
    comes in parts takes longer than `timeout_s`. Most come in one, and no timer is set for them.
    """
    if declared is not None and declared > limit:
        raise _too_large()
    body, is_complete = _part(await receive(), limit)
    if is_complete:
        return body
    try:
        async with asyncio.timeout(timeout_s):
            return await _remaining(receive, bytearray(body), limit)
    except TimeoutError as error:
        detail = f"the body did not arrive within {timeout_s:g} s"
        raise ProblemError(HTTPStatus.REQUEST_TIMEOUT, "body_timed_out", detail) from error


async def _remaining(receive: Receive, body: bytearray, limit: int) -> bytes:
    is_complete = False
    while not is_complete:
        part, is_complete = _part(await receive(), limit - len(body))
        body += part
    return bytes(body)


def _part(message: Message, limit: int) -> tuple[bytes, bool]:
    """The bytes of the body that a message has, and whether they are the last."""
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    part: bytes = message.get("body", b"")
    if len(part) > limit:
        raise _too_large()
    return part, not message.get("more_body", False)


def _check_media_type(known: dict[bytes, bytes]) -> None:
    unsupported = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    if not _MEDIA_TYPE.fullmatch(known.get(_CONTENT_TYPE, b"")):
        detail = "send the ports as application/json in UTF-8"
        raise ProblemError(unsupported, "media_type_unsupported", detail)
    if known.get(_CONTENT_ENCODING, b"identity").lower() != b"identity":
        detail = "send the body without a content encoding"
        raise ProblemError(unsupported, "encoding_unsupported", detail)


def _key(known: dict[bytes, bytes], header: bytes) -> str | None:
    """A key, plain or as a quoted string (RFC 9651)."""
    value = known.get(header)
    if value is None:
        return None
    bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] == _QUOTE else value
    if not _KEY.fullmatch(bare):
        raise _bad_header(f"{header.decode()} is not 1 to 255 visible ASCII characters")
    return bare.decode("ascii")


def _number(known: dict[bytes, bytes], header: bytes) -> int | None:
    value = known.get(header)
    if value is None:
        return None
    if not value.isdigit() or len(value) > _NUMBER_DIGITS:
        raise _bad_header(f"{header.decode()} is no number of bytes")
    return int(value)


def _deadline(known: dict[bytes, bytes]) -> datetime | None:
    value = known.get(_DEADLINE)
    if value is None:
        return None
    try:
        deadline = datetime.fromisoformat(value.decode("latin-1"))
    except ValueError:
        deadline = None
    if deadline is None or deadline.tzinfo is None:
        raise _bad_header("Nexus-Deadline is no RFC 3339 time with an offset")
    return deadline


def _bad_header(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.BAD_REQUEST, "header_invalid", detail)


def _too_large() -> ProblemError:
    return ProblemError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        "the body is larger than this server takes",
        headers=((b"connection", b"close"),),
    )
