"""One request to a tool and its answer, whoever answers: sizes are bounded while they are read."""

from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
import httpx

_OK = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered; the body only of a 200, for nothing else is read."""

    status: int
    retry_after: str
    body: bytes


class NotAnsweredError(Exception):
    """No connection, or it broke before the answer was complete. The message is for people."""


class AnswerTooLargeError(Exception):
    """The body has more bytes than the limit."""


class AnswerMalformedError(Exception):
    """The answer breaks HTTP, or has a coding that was not asked for."""


async def exchange(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    max_response_bytes: int,
) -> Answer:
    """Send one request. Raises the three errors above; the caller sets the deadline.

    `Accept-Encoding: identity` is sent and another coding refused: there is nothing to inflate.
    """
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    try:
        async with client.stream(method, url, headers=sent, content=body) as response:
            return await _read(response, max_response_bytes)
    except aiohttp.ClientResponseError as error:
        raise AnswerMalformedError("the answer is not HTTP as it should be") from error
    except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError) as error:
        raise NotAnsweredError(_in_words(error)) from error


async def _read(response: httpx.Response, limit: int) -> Answer:
    retry_after = response.headers.get("retry-after", "")[:64]
    if response.status_code != _OK:
        return Answer(response.status_code, retry_after, b"")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise AnswerMalformedError("the answer is compressed, which was not asked for")
    if _declared_length(response) > limit:
        raise AnswerTooLargeError
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > limit:
            raise AnswerTooLargeError
    return Answer(response.status_code, retry_after, bytes(body))


def _declared_length(response: httpx.Response) -> int:
    declared = response.headers.get("content-length", "0")
    return int(declared) if declared.isascii() and declared.isdigit() else 0


def _in_words(error: Exception) -> str:
    """What went wrong, without a word about addresses: it is told to everyone, on chain."""
    cause = error.__cause__ or error
    if isinstance(cause, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return "the TLS certificate of the tool is not accepted"
    if isinstance(cause, aiohttp.ClientConnectorError):
        return "no connection to the tool"
    return "the connection to the tool broke"
