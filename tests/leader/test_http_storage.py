"""A storage behind a URL, on a raw server: its requests and the meaning of its responses."""

import pytest

from nexus_tools.errors import NotFoundError, UnreachableError, ValidationError
from nexus_tools.leader.dispatch.http_storage import http_storage

pytestmark = pytest.mark.anyio


@pytest.fixture
def storage(http_client, serve_bytes, respond):
    """Return a factory of storages whose server sends this response, with the server."""

    async def make(*response):
        server = await serve_bytes(respond(*response))
        return http_storage(http_client, f"{server.url}/v1/blobs/{{key}}?strict=1"), server

    return make


async def test_storage_returns_the_value_of_a_key(storage):
    fetch, server = await storage(200, b"[1, 2]")
    assert await fetch(b"6d3f-_~.Q", 1_000) == b"[1, 2]"
    head, _ = server.requests[0]
    assert head.startswith("GET /v1/blobs/6d3f-_~.Q?strict=1 HTTP/1.1\r\n")
    assert "accept-encoding: identity" in head.lower()


@pytest.mark.parametrize("status", [404, 410])
async def test_storage_raises_not_found_for_a_missing_value(storage, status):
    fetch, _ = await storage(status)
    with pytest.raises(NotFoundError):
        await fetch(b"a", 1_000)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_storage_does_not_follow_redirects(storage, status):
    """A storage could redirect the leader to addresses that only its machine can reach."""
    fetch, _ = await storage(status, b"", ["Location: http://127.0.0.1:8080/"])
    with pytest.raises(ValidationError, match="a redirect, which this leader does not follow"):
        await fetch(b"a", 1_000)


@pytest.mark.parametrize("status", [400, 414, 422])
async def test_rejected_key_is_not_requested_again(storage, status):
    fetch, _ = await storage(status)
    with pytest.raises(ValidationError, match=f"rejects the key with status {status}"):
        await fetch(b"a", 1_000)


@pytest.mark.parametrize("status", [201, 204, 401, 429, 500, 503])
async def test_other_status_is_a_storage_error(storage, status):
    fetch, _ = await storage(status, b"1" if status == 201 else b"")
    with pytest.raises(UnreachableError, match=f"responds with {status}"):
        await fetch(b"a", 1_000)


async def test_value_has_at_most_the_requested_bytes(storage):
    fetch, _ = await storage(200, b"x" * 100)
    assert len(await fetch(b"a", 100)) == 100
    with pytest.raises(ValidationError, match="the value has more than 99 bytes"):
        await fetch(b"a", 99)


async def test_compressed_response_is_rejected(storage):
    """It could be a decompression bomb."""
    fetch, _ = await storage(200, b"x", ["Content-Encoding: gzip"])
    with pytest.raises(UnreachableError, match="the response is compressed"):
        await fetch(b"a", 1_000)


async def test_unreachable_storage_raises_storage_down(http_client, unused_tcp_port):
    fetch = http_storage(http_client, f"http://127.0.0.1:{unused_tcp_port}/{{key}}")
    with pytest.raises(UnreachableError, match="does not respond"):
        await fetch(b"a", 1_000)
