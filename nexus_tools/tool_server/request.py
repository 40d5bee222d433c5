"""The parser of a tool call's headers, and the reader of its body with limits."""

import asyncio
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from starlette.types import Message, Receive

from nexus_tools.tool import Problem, protocol
from nexus_tools.tool_server.base import Call
from nexus_tools.tool_server.response import ProblemError

_CONTENT_TYPE = b"content-type"
_CONTENT_LENGTH = b"content-length"
_CONTENT_ENCODING = b"content-encoding"
# ASGI passes the names of headers as bytes in lower case.
_INVOCATION = protocol.INVOCATION_HEADER.lower().encode()
_IDEMPOTENCY_KEY = protocol.IDEMPOTENCY_KEY_HEADER.lower().encode()
_TOOL = protocol.TOOL_HEADER.lower().encode()
_DEADLINE = protocol.DEADLINE_HEADER.lower().encode()
_MAX_OUTCOME_BYTES = protocol.MAX_OUTCOME_BYTES_HEADER.lower().encode()

_CALL_HEADERS = frozenset((_INVOCATION, _IDEMPOTENCY_KEY, _TOOL, _DEADLINE, _MAX_OUTCOME_BYTES))
_JSON = protocol.JSON.encode()
_KEY = re.compile(rb"[!-~]{1,255}")
_MEDIA_TYPE = re.compile(rb'\s*%b\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?' % _JSON, re.IGNORECASE)
_NUMBER_DIGITS = 18
_QUOTE = ord('"')

# The call of a client that does not send any of the headers in `_CALL_HEADERS`.
_EMPTY_CALL = Call()


class ClientGoneError(Exception):
    """The error for a client that closes the connection before its request is complete."""


class InvokeHeaders(NamedTuple):
    """The headers of a tool call that the server uses."""

    key: str | None
    tool: bytes | None
    content_length: int | None
    call: Call

    @classmethod
    def parse(cls, headers: Iterable[tuple[bytes, bytes]]) -> "InvokeHeaders":
        """Parse the headers. Raises `ProblemError` 415 for a wrong media type, or 400."""
        known = dict(headers)
        if known.get(_CONTENT_TYPE) != _JSON or _CONTENT_ENCODING in known:
            _check_media_type(known)
        content_length = _number(known, _CONTENT_LENGTH)
        if _CALL_HEADERS.isdisjoint(known):
            return cls(None, None, content_length, _EMPTY_CALL)
        invocation = key = _key(known, _INVOCATION)
        if invocation is None:
            key = _key(known, _IDEMPOTENCY_KEY)
        elif _IDEMPOTENCY_KEY in known:
            # A Leader writes the invocation ID, in quotes, as the idempotency key.
            is_same = known[_IDEMPOTENCY_KEY] == b'"%b"' % known[_INVOCATION]
            if not is_same and _key(known, _IDEMPOTENCY_KEY) != invocation:
                raise _bad_header(
                    f"{protocol.IDEMPOTENCY_KEY_HEADER} and {protocol.INVOCATION_HEADER} differ"
                )
        call = Call(invocation, _deadline(known), _number(known, _MAX_OUTCOME_BYTES))
        return cls(key, known.get(_TOOL), content_length, call)

    def of_leader(self, leader: str | None) -> "InvokeHeaders":
        """Return a copy with the leader whose signature was verified."""
        if leader is None:
            return self
        key, tool, content_length, call = self
        signed = Call(call.invocation, call.deadline, call.max_outcome_bytes, leader)
        return InvokeHeaders(key, tool, content_length, signed)


def check_length(declared: int | None, limit: int) -> None:
    """Raise `ProblemError` 413 if the declared length of the body exceeds `limit` bytes."""
    if declared is not None and declared > limit:
        raise _too_large()


async def read_remaining_body(
    receive: Receive, first: bytes, limit: int, timeout_s: float, take: Callable[[int], None]
) -> bytes:
    """Return the whole body of a request that arrives in parts, at most `limit` bytes.

    `first` is the first part. `take` is called with the number of bytes of each further part.
    Raises `ProblemError` 413 as soon as the body is too long, and 408 if the body takes longer than
    `timeout_s`. Because most bodies arrive in one part, only this function sets a timer.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await _remaining(receive, bytearray(first), limit, take)
    except TimeoutError as error:
        detail = f"the body did not arrive within {timeout_s:g} s"
        raise ProblemError(Problem.BODY_TIMED_OUT, detail) from error


async def _remaining(
    receive: Receive, body: bytearray, limit: int, take: Callable[[int], None]
) -> bytes:
    is_complete = False
    while not is_complete:
        part, is_complete = body_part(await receive(), limit - len(body))
        take(len(part))
        body += part
    return bytes(body)


def body_part(message: Message, limit: int) -> tuple[bytes, bool]:
    """Return the part of a body in an ASGI message, and whether it is the last part."""
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    part: bytes = message.get("body", b"")
    if len(part) > limit:
        raise _too_large()
    return part, not message.get("more_body", False)


def _check_media_type(known: dict[bytes, bytes]) -> None:
    if not _MEDIA_TYPE.fullmatch(known.get(_CONTENT_TYPE, b"")):
        detail = f"send the ports as {protocol.JSON} in UTF-8"
        raise ProblemError(Problem.MEDIA_TYPE_UNSUPPORTED, detail)
    if known.get(_CONTENT_ENCODING, b"identity").lower() != b"identity":
        detail = "send the body without a content encoding"
        raise ProblemError(Problem.ENCODING_UNSUPPORTED, detail)


def _key(known: dict[bytes, bytes], header: bytes) -> str | None:
    """Return the idempotency key in a header, with or without quotes (RFC 9651), or None."""
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
        raise _bad_header(f"{header.decode()} is not a number of bytes")
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
        raise _bad_header(f"{protocol.DEADLINE_HEADER} is not an RFC 3339 time with an offset")
    return deadline


def _bad_header(detail: str) -> ProblemError:
    return ProblemError(Problem.HEADER_INVALID, detail)


def _too_large() -> ProblemError:
    return ProblemError(
        Problem.BODY_TOO_LARGE,
        "the body is larger than this server accepts",
        headers=((b"connection", b"close"),),
    )
