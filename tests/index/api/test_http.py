"""HTTP: caching, methods, limits, and hostile requests."""

import json

import httpx
import pytest

from nexus_tools.errors import UsageError
from nexus_tools.http.embedded_server import listening_socket
from nexus_tools.index.api import ApiLimits, IndexApi, IndexSource, McpServer, serve_api
from nexus_tools.index.api.limits import TokenBuckets, client_key
from nexus_tools.index.api.problems import ProblemError
from nexus_tools.index.index_file import delete_file
from nexus_tools.sui.support.allowed_sources import AllowedSources
from tests.index.api.conftest import synthetic_index
from tests.index.synthetic import object_id

pytestmark = pytest.mark.anyio
HOSTILE = '<script>alert(1)</script>\x1b[31m\u202e{{7*7}}"; DROP TABLE tools; --'


class Clock:
    """A clock that stands still until a test moves it."""

    now_s = 1_000.0

    def __call__(self):
        return self.now_s


@pytest.fixture
async def client(synthetic, serve):
    synthetic.write(*(synthetic.events.tool(number) for number in range(3)))
    return await serve(synthetic.index)


# --- Caching


async def test_unchanged_document_is_not_sent_again(client, synthetic):
    for path in ("/api/tools", "/api/status", "/v0.1/servers", "/openapi.json"):
        first = await client.get(path)
        etag = first.headers["etag"]
        assert first.headers["cache-control"] == "no-cache"
        again = await client.get(path, headers={"If-None-Match": f'"other", {etag}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    etag = (await client.get("/api/tools")).headers["etag"]
    synthetic.write(synthetic.events.tool(3))
    changed = await client.get("/api/tools", headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert len(changed.json()["items"]) == 4


async def test_etag_of_one_url_does_not_hide_that_another_is_missing(client):
    etag = (await client.get("/api/tools")).headers["etag"]
    missing = await client.get("/api/tools/xyz.none@1", headers={"If-None-Match": etag})
    assert missing.status_code == 404
    assert (await client.get("/api/tools", headers={"If-None-Match": "*"})).status_code == 200


async def test_search_that_catches_up_changes_the_etag_of_the_status(client, synthetic):
    synthetic.write(synthetic.events.tool(77))
    behind = await client.get("/api/status")
    assert behind.json()["search"]["pending_changes"] > 0
    synthetic.build_text_index()
    current = await client.get("/api/status", headers={"If-None-Match": behind.headers["etag"]})
    assert current.json()["search"]["pending_changes"] == 0


async def test_rollback_changes_the_etag(client, synthetic):
    etag = (await client.get("/api/tools")).headers["etag"]
    synthetic.roll_back(2)
    after = await client.get("/api/tools", headers={"If-None-Match": etag})
    assert after.status_code == 200
    assert len(after.json()["items"]) == 2


async def test_search_is_never_cached_because_the_text_index_follows_later(client, synthetic):
    synthetic.build_text_index()
    synthetic.write(synthetic.events.tool(3))
    early = await client.get("/api/tools", params={"q": "number"})
    assert (len(early.json()["items"]), "etag" in early.headers) == (3, False)
    assert early.headers["cache-control"] == "no-store"
    synthetic.build_text_index()
    assert len((await client.json("/api/tools", q="number"))["items"]) == 4


async def test_large_documents_are_compressed(client):
    response = await client.get("/api/tools", headers={"Accept-Encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in response.headers["vary"].lower()


# --- Methods and hosts


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_other_methods_are_refused(client, method):
    for path in ("/api/tools", "/api/events", "/openapi.json"):
        response = await client.http.request(method, path)
        assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
        assert "GET" in response.headers["allow"]


async def test_head_has_no_body(client):
    response = await client.http.head("/api/tools")
    assert (response.status_code, response.content) == (200, b"")


async def test_preflight_allows_reading_from_any_page(client):
    headers = {"Origin": "https://page.example", "Access-Control-Request-Method": "GET"}
    response = await client.http.options("/api/tools", headers=headers)
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["access-control-allow-methods"] == "GET, HEAD"
    assert "access-control-allow-credentials" not in response.headers
    assert "access-control-allow-private-network" not in response.headers


async def test_unknown_paths_are_problems(client):
    for path in ("/", "/api", "/api/tools/", "/api/../etc/passwd", "/snapshot", "/api//tools"):
        response = await client.get(path)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_foreign_host_names_are_refused(synthetic, serve):
    client = await serve(synthetic.index, hosts=AllowedSources.of(["api.example.com"]))
    refused = await client.get("/api/status", headers={"Host": "rebound.attacker.example"})
    assert (refused.status_code, refused.json()["code"]) == (421, "host_not_allowed")
    for host in ("api.example.com", "localhost:1", "127.0.0.1"):
        response = await client.get("/api/status", headers={"Host": host})
        assert response.status_code == 200


# --- Hostile requests and texts


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=1e9",
        "limit=-1",
        "limit=5&limit=5",
        "limit=",
        "limit=9" + "9" * 400,
        "unknown=1",
        "sort=fqn;DROP TABLE tools",
        "state=gone",
        "owner=0x5",
        "owner=0xzz",
        "owner=" + "0" * 66,
        "max_price=-1",
        f"max_price={2**63}",
        "q=" + "a" * 201,
        "domain=" + "a" * 254,
        "q=%00",
        "domain=a%00b",
        "q=a&q=b",
        "%00=1",
    ],
)
async def test_invalid_parameters_are_problems(client, query):
    response = await client.get(f"/api/tools?{query}")
    assert response.status_code == 400
    assert response.json()["code"] in ("parameter_invalid", "address_invalid")
    assert len(response.json()["detail"]) <= 300


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/api/tools?limit=x", "limit: expected an integer from 1 to 100, got 'x'"),
        (
            "/api/leaders?sort=relevance",
            "sort: expected one of newest, reputation, got 'relevance'",
        ),
        ("/api/tools?q=" + "a" * 201, f"q: expected at most 200 characters, got '{'a' * 80}'"),
        (
            "/api/invocations?outcome=missed",
            "outcome: expected one of open, closed, settled, failed, expired, got 'missed'",
        ),
        ("/v0.1/servers?cursor=x", "cursor: expected no value, got 'x'"),
        ("/api/stats?day=1", "the parameter 'day' does not exist: expected days"),
        ("/api/status?a=1", "the parameter 'a' does not exist: expected no parameters"),
        (
            "/api/leaders?sort=Object contains unknown field `x`",
            "sort: expected one of newest, reputation, got 'Object contains unknown field `x`'",
        ),
    ],
)
async def test_problem_states_the_expected_value(client, path, detail):
    problem = (await client.get(path)).json()
    assert (problem["code"], problem["detail"]) == ("parameter_invalid", detail)


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "' OR 1=1 --",
        "a* AND b",
        "name:tool",
        "NEAR(a b)",
        "((((",
        "\u202ex",
        "\U0001d54f" * 100,
        "%",
        "\ud7ff",
        HOSTILE,
    ],
)
async def test_search_takes_any_text(synthetic, serve, query):
    synthetic.write(synthetic.events.tool(1))
    synthetic.build_text_index()
    client = await serve(synthetic.index)
    page = await client.json("/api/tools", q=query)
    assert len(page["items"]) <= 1


async def test_hostile_texts_are_only_json_strings(synthetic, serve):
    synthetic.write(synthetic.events.tool(1, description=HOSTILE, url="javascript:alert(1)"))
    client = await serve(synthetic.index)
    response = await client.get("/api/tools")
    assert response.headers["content-type"] == "application/json"
    assert json.loads(response.content)["items"][0]["description"] == HOSTILE
    assert b"\x1b" not in response.content
    refused = await client.get("/api/tools/<script>alert(1)")
    assert refused.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("after", ["", "x", "AAAA", "WzFd", "é", "a" * 1_001, "-_-_", "%5B1%5D"])
async def test_invalid_cursors_are_refused(client, after):
    status, code = await client.fails("/api/tools", after=after)
    assert status == 400
    assert code in ("cursor_invalid", "parameter_invalid")


async def test_cursor_is_bound_to_its_query(client, synthetic, tmp_path, serve):
    page = await client.json("/api/tools", limit=1)
    after = page["next"]
    assert len((await client.json("/api/tools", limit=2, after=after))["items"]) == 2
    for path, parameters in [
        ("/api/tools", {"sort": "name"}),
        ("/api/tools", {"domain": "xyz"}),
        ("/api/leaders", {}),
        ("/api/invocations", {}),
    ]:
        answer = await client.fails(path, after=after, **parameters)
        assert answer == (400, "cursor_invalid")
    with synthetic_index(tmp_path / "other.sqlite") as other:
        other.write(*(other.events.tool(number) for number in range(3)))
        rebuilt = await serve(other.index)
        assert await rebuilt.fails("/api/tools", after=after) == (400, "cursor_invalid")


async def test_numbers_up_to_the_largest_are_exact(synthetic, serve):
    largest = 2**63 - 1
    synthetic.write(synthetic.events.tool(1, price_mist=2**64 - 1))
    client = await serve(synthetic.index)
    [tool] = (await client.json("/api/tools", max_price=largest))["items"]
    assert tool["price_mist"] == largest


async def test_long_request_is_refused(client):
    response = await client.http.get("/api/tools", params={"q": "a" * 60_000})
    assert response.status_code == 400
    assert len(response.content) < 1_000


# --- Rate limit


async def test_client_that_asks_too_often_has_to_wait(synthetic, serve):
    clock = Clock()
    limits = ApiLimits(requests_per_s=0.5, burst=2)
    client = await serve(synthetic.index, limits=limits, clock_s=clock)
    await client.json("/api/status")
    assert (await client.get("/api/none")).status_code == 404
    refused = await client.get("/api/status")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"] == "2"
    clock.now_s += 1.9
    assert await client.fails("/api/status") == (429, "rate_limited")
    clock.now_s += 0.1
    await client.json("/api/status")
    assert await client.fails("/api/status") == (429, "rate_limited")


async def test_client_cannot_choose_its_address(synthetic, serve):
    limits = ApiLimits(requests_per_s=1, burst=1)
    client = await serve(synthetic.index, limits=limits, clock_s=Clock())
    await client.json("/api/status")
    for number in range(3):
        headers = {"X-Forwarded-For": f"203.0.113.{number}", "Forwarded": f"for=1.2.3.{number}"}
        response = await client.get("/api/status", headers=headers)
        assert response.status_code == 429


async def test_trusted_proxy_names_the_client(synthetic, serve):
    limits = ApiLimits(requests_per_s=1, burst=1)
    client = await serve(
        synthetic.index, limits=limits, clock_s=Clock(), trusted_proxies=["127.0.0.0/8"]
    )

    async def status(forwarded):
        response = await client.get("/api/status", headers={"X-Forwarded-For": forwarded})
        return response.status_code

    assert await status("203.0.113.1") == 200
    assert await status("203.0.113.1") == 429
    assert await status("203.0.113.2") == 200
    # The client wrote the first address, and the proxy added the second one.
    assert await status("198.51.100.7, 203.0.113.1") == 429
    assert await status("198.51.100.8, 203.0.113.1, 127.0.0.5") == 429


async def test_invalid_proxy_is_refused(synthetic):
    source = IndexSource(synthetic.index.path, synthetic.index.identity)
    listener = listening_socket("127.0.0.1", 0)
    with listener, pytest.raises(UsageError) as caught:
        async with serve_api(IndexApi(source), listener, trusted_proxies=["*"]):
            pass
    assert caught.value.code == "proxy_invalid"


def test_table_of_clients_is_bounded():
    clock = Clock()
    buckets = TokenBuckets(1, 1, 100, clock)
    for number in range(1_000):
        buckets.take(f"10.0.{number // 256}.{number % 256}")
    assert len(buckets) == 100


def test_active_client_is_not_forgotten():
    buckets = TokenBuckets(1, 1, 10, Clock())
    buckets.take("busy")
    for number in range(100):
        buckets.take(f"10.0.0.{number}")
        with pytest.raises(ProblemError):
            buckets.take("busy")


def test_clock_that_stands_still_gives_no_tokens():
    buckets = TokenBuckets(1_000, 3, 10, Clock())
    for _ in range(3):
        buckets.take("client")
    with pytest.raises(ProblemError) as caught:
        buckets.take("client")
    assert caught.value.headers == {"Retry-After": "1"}


def test_ipv6_network_is_one_client():
    assert (
        client_key("2001:db8::1") == client_key("2001:db8::ffff:1") != client_key("2001:db8:1::1")
    )
    assert client_key("::ffff:192.0.2.1") == client_key("192.0.2.1")


def test_key_of_a_client_is_short():
    assert len(client_key("x" * 60_000)) == 64


# --- The file


async def test_replaced_file_is_read(client, synthetic, tmp_path):
    with synthetic_index(tmp_path / "new.sqlite") as new:
        new.write(new.events.leader(1))
    delete_file(synthetic.index.path)
    (tmp_path / "new.sqlite").rename(synthetic.index.path)
    status = await client.json("/api/status")
    assert (status["tools"], status["leaders"]) == (0, 1)


async def test_deleted_file_is_unavailable_without_its_path(client, synthetic):
    delete_file(synthetic.index.path)
    response = await client.get("/api/tools")
    assert (response.status_code, response.json()["code"]) == (503, "index_missing")
    assert str(synthetic.index.path) not in response.text
    assert response.headers["cache-control"] == "no-store"


async def test_file_cannot_be_written(client, synthetic):
    before = synthetic.index.connection.execute("PRAGMA data_version").fetchone()
    for path in ("/api/tools", "/api/leaders", f"/api/invocations/{object_id('invocation', 1)}"):
        await client.get(path)
    assert synthetic.index.connection.execute("PRAGMA data_version").fetchone() == before


# --- The MCP server


@pytest.mark.parametrize(
    "url", ["", "ftp://a/b", "https://", "https://u:p@a/", "https://[::1]/mcp", "http://a:b/", "x"]
)
def test_invalid_mcp_url_is_refused(url):
    with pytest.raises(UsageError) as caught:
        McpServer.at(url)
    assert caught.value.code == "mcp_url_invalid"


def test_mcp_server_is_named_by_its_host():
    assert McpServer.at("https://Tools.Example.com./mcp").name == "com.example.tools/nexus-tools"
    assert McpServer.at("http://127.0.0.1:8000/mcp").name == "127.0.0.1/nexus-tools"
    assert httpx.URL(McpServer.at("http://127.0.0.1:8000/mcp").url).port == 8000
