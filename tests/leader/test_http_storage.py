"""A storage behind a URL, on a raw server: what is asked of it, and what its responses mean."""

import pytest

from nexus_tools.errors import NotFoundError, UnreachableError, ValidationError
from nexus_tools.leader.dispatch.http_storage import http_storage

pytestmark = pytest.mark.anyio


@pytest.fixture
def storage(http_client, serve_bytes, respond):
    """A storage whose server responds with this; and the server."""

    async def make(*response):
        server = await serve_bytes(respond(*response))
        return http_storage(http_client, f"{server.url}/v1/blobs/{{key}}?strict=1"), server

    return make


async def test_a_value_is_had_by_its_key(storage):
    fetch, server = await storage(200, b"[1, 2]")
    assert await fetch(b"6d3f-_~.Q", 1_000) == b"[1, 2]"
    head, _ = server.requests[0]
    assert head.startswith("GET /v1/blobs/6d3f-_~.Q?strict=1 HTTP/1.1\r\n")
    assert "accept-encoding: identity" in head.lower()


@pytest.mark.parametrize("status", [404, 410])
async def test_a_value_that_is_not_there_is_not_found(storage, status):
    fetch, _ = await storage(status)
    with pytest.raises(NotFoundError):
        await fetch(b"a", 1_000)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_storage_that_leads_elsewhere_is_not_followed(storage, status):
    """Who keeps values could lead a leader to where its machine alone may look."""
    fetch, _ = await storage(status, b"", ["Location: http://127.0.0.1:8080/"])
    with pytest.raises(ValidationError, match="leads elsewhere, which is not followed"):
        await fetch(b"a", 1_000)


@pytest.mark.parametrize("status", [400, 414, 422])
async def test_a_key_that_a_storage_does_not_take_is_not_asked_for_again(storage, status):
    fetch, _ = await storage(status)
    with pytest.raises(ValidationError, match=f"takes no such key: it responds with {status}"):
        await fetch(b"a", 1_000)


@pytest.mark.parametrize("status", [201, 204, 401, 429, 500, 503])
async def test_another_status_is_trouble_of_the_storage(storage, status):
    fetch, _ = await storage(status, b"1" if status == 201 else b"")
    with pytest.raises(UnreachableError, match=f"responds with {status}"):
        await fetch(b"a", 1_000)


async def test_a_value_has_as_many_bytes_as_are_asked_for_at_most(storage):
    fetch, _ = await storage(200, b"x" * 100)
    assert len(await fetch(b"a", 100)) == 100
    with pytest.raises(ValidationError, match="it has more than 99 bytes"):
        await fetch(b"a", 99)


async def test_a_compressed_response_is_not_taken(storage):
    """It could be a bomb."""
    fetch, _ = await storage(200, b"x", ["Content-Encoding: gzip"])
    with pytest.raises(UnreachableError, match="the response is compressed"):
        await fetch(b"a", 1_000)


async def test_a_storage_that_is_away_does_not_respond(http_client, unused_tcp_port):
    fetch = http_storage(http_client, f"http://127.0.0.1:{unused_tcp_port}/{{key}}")
    with pytest.raises(UnreachableError, match="does not respond"):
        await fetch(b"a", 1_000)
