"""A storage that is read by HTTP `GET`, for example a Walrus aggregator."""

from functools import partial

import aiohttp

from nexus_tools.errors import NotFoundError, UnreachableError, ValidationError
from nexus_tools.http.guarded_client import (
    NoResponseError,
    ResponseMalformedError,
    ResponseTooLargeError,
    exchange,
)
from nexus_tools.leader.config import KEY
from nexus_tools.leader.dispatch.remote_values import Fetch

_NOT_FOUND_STATUSES = (404, 410)
# Statuses that reject the key: bad request, URI too long, unprocessable content.
_KEY_STATUSES = (400, 414, 422)


def http_storage(client: aiohttp.ClientSession, url: str) -> Fetch:
    """Return a `Fetch` that reads a URL, in which the unencoded key replaces the placeholder `KEY`.

    The function does not follow redirects.
    """
    return partial(_get, client, url)


async def _get(client: aiohttp.ClientSession, url: str, key: bytes, max_bytes: int) -> bytes:
    try:
        place = url.replace(KEY, key.decode())
        response = await exchange(client, "GET", place, max_response_bytes=max_bytes)
    except ResponseTooLargeError:
        message = f"the value has more than {max_bytes} bytes"
        raise ValidationError("value_too_large", message) from None
    except NoResponseError as error:
        raise UnreachableError("storage_unavailable", "the storage does not respond") from error
    except ResponseMalformedError as error:
        raise UnreachableError("storage_unavailable", str(error)) from error
    if 300 <= response.status < 400:
        message = "the storage responds with a redirect, which this leader does not follow"
        raise ValidationError("storage_redirects", message)
    if response.status in _NOT_FOUND_STATUSES:
        raise NotFoundError("value_unknown", "the storage has no such value")
    if response.status in _KEY_STATUSES:
        message = f"the storage rejects the key with status {response.status}"
        raise ValidationError("storage_key_refused", message)
    if response.status != 200:
        raise UnreachableError(
            "storage_unavailable", f"the storage responds with {response.status}"
        )
    return response.body
