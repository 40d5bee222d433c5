"""Wrong URLs, unknown objects, and an explorer without an index."""

import re

import httpx
import pytest

from nexus_tools.errors import NotFoundError
from nexus_tools.explorer import Explorer
from nexus_tools.sui.support.allowed_sources import AllowedSources
from tests.explorer.conftest import Pages, visible_text
from tests.index.conftest import ADD

UNKNOWN = f"0x{'0' * 63}1"


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/tools/",
        f"/tools/{ADD}/more",
        "/tools/xyz.example.unknown@1",
        f"/leaders/{UNKNOWN}",
        "/leaders/",
        "/static/../app.py",
        "/%2e%2e/%2e%2e/etc/passwd",
    ],
)
async def test_unknown_page_offers_a_search(pages, path):
    response = await pages.http.get(path)
    assert response.status_code == 404
    if not path.startswith("/static"):
        text = visible_text(response.text)
        assert "Search" in text
        assert "404" in text


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/tools/xyz.example.unknown@1", "FQN"),
        (f"/leaders/{UNKNOWN}", "ID"),
        (f"/invocations/{UNKNOWN}", "ID"),
        (f"/workflows/{UNKNOWN}", "FQN or ID"),
        (f"/executions/{UNKNOWN}", "ID"),
        (f"/schedules/{UNKNOWN}", "ID"),
    ],
)
async def test_page_of_an_unknown_object_says_how_far_the_index_is(pages, path, key):
    text = await pages.text(path, 404)
    assert re.search(r"The index has read the chain up to checkpoint \d+\.", text)
    assert "reload the page" in text
    assert f"check the {key}, and check that it is on the network localnet." in text


@pytest.mark.parametrize(
    "path",
    [
        "/tools/no-fqn",
        f"/tools/{ADD}%00",
        f"/tools/{ADD}x",
        "/tools/" + "a" * 5_000,
        "/leaders/0x12",
        f"/leaders/{UNKNOWN}0",
        "/leaders/%F0%9F%92%A9",
        "/accounts/nobody",
        "/accounts/0xZZ",
        "/tools?state=gone",
        "/tools?limit=0",
        "/tools?limit=x",
        "/tools?owner=0x1",
        "/tools?max_price=-1",
        "/tools?max_price=" + "9" * 39,
        "/tools?after=abcdefghijkl",
        "/tools?unknown=1",
        "/tools?q=a&q=b",
        "/tools?q=" + "x" * 201,
        "/leaders?sort=price",
    ],
)
async def test_invalid_url_has_a_page_with_status_400(pages, path):
    text = await pages.text(path, 400)
    assert "Traceback" not in text


@pytest.mark.parametrize("path", ["/tools?q=", "/search?q=", f"/tools/{ADD}?filled=1&in/a="])
async def test_very_long_query_is_refused(pages, path):
    assert "too long" in await pages.text(path + "x" * 10_000, 414)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_other_methods_are_refused(pages, method):
    response = await pages.http.request(method, "/tools")
    assert response.status_code == 405


async def test_head_has_no_body(pages):
    response = await pages.http.head("/tools")
    assert (response.status_code, response.content) == (200, b"")


# --- Hosts and limits


async def test_other_host_names_are_refused(pages):
    for path in ("/", "/api/tools", "/static/explorer.css"):
        response = await pages.http.get(path, headers={"Host": "attacker.example"})
        assert response.status_code == 421


@pytest.mark.parametrize(
    ("origin", "is_readable"),
    [
        ("https://attacker.example", False),
        ("http://127.0.0.1.attacker.example", False),
        ("null", False),
        ("http://localhost:5173", True),
    ],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
async def test_foreign_pages_cannot_read_the_api_of_a_local_explorer(
    pages, method, origin, is_readable
):
    """A page that the user visits could otherwise read the data of the user's localnet."""
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    for path in ("/api/tools", "/api/missing"):
        response = await pages.http.request(method, path, headers=headers)
        allowed = response.headers.get("access-control-allow-origin")
        assert allowed == (origin if is_readable else None)
        assert "Origin" in response.headers["vary"]
        policy = "cross-origin" if is_readable else "same-origin"
        assert response.headers["cross-origin-resource-policy"] == policy


@pytest.mark.parametrize("hosts", [None, AllowedSources.of(["explorer.example"])])
async def test_all_pages_can_read_the_api_of_a_public_explorer(stage, show, hosts):
    pages = await show(hosts=hosts)
    response = await pages.http.get("/api/tools", headers={"Origin": "https://page.example"})
    assert response.headers["access-control-allow-origin"] == "*"


async def test_client_with_too_many_requests_is_refused(show):
    from nexus_tools.index.api import ApiLimits

    pages = await show(limits=ApiLimits(requests_per_s=0.001, burst=2))
    statuses = [(await pages.http.get("/")).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert (await pages.http.get("/static/explorer.css")).status_code == 200


# --- Without an index


@pytest.fixture
async def without_index():
    explorer = Explorer("testnet", hosts=AllowedSources())
    pages = Pages(explorer)
    yield pages
    await pages.http.aclose()


NOT_PUBLISHED = NotFoundError(
    "package_not_published", "the package is missing at /home/me", hint="Run a command."
)


async def test_page_without_package_says_what_to_do(without_index):
    without_index.explorer.suspend(NOT_PUBLISHED)
    for path in ("/", "/tools", f"/tools/{ADD}"):
        text = await without_index.text(path, 503)
        assert "The package is missing" in text
        assert "nexus-tools package publish" in text
    problem = await without_index.http.get("/api/tools")
    assert (problem.status_code, problem.json()["code"]) == (503, "package_not_published")


async def test_public_explorer_hides_the_operators_problems():
    pages = Pages(Explorer("testnet", is_public=True))
    pages.explorer.suspend(NOT_PUBLISHED)
    text = await pages.text("/", 503)
    assert "/home/me" not in text
    await pages.http.aclose()


async def test_notice_is_on_every_page(pages):
    pages.explorer.notice = "The index is <b>5 min</b> behind."
    for path in ("/", "/tools", f"/tools/{ADD}", "/leaders", "/nothing"):
        assert "The index is <b>5 min</b> behind." in visible_text(
            (await pages.http.get(path)).text
        )


async def test_explorer_continues_when_the_index_exists(pages, without_index):
    assert (await without_index.get("/", 503)).status_code == 503
    explorer = pages.explorer
    without_index.explorer.open(explorer._source, explorer._chain)
    assert ADD in await without_index.text("/tools")
    without_index.explorer.suspend(NOT_PUBLISHED)
    await without_index.get("/tools", 503)


async def test_page_of_a_damaged_index_says_what_to_do(pages):
    """SQLite fails after the state was read, as it does if another part of the file is damaged."""
    source, steps = pages.explorer._source, []
    source.connection.set_progress_handler(lambda: steps.append(1), 1)
    source.state()
    most = len(steps) + 5
    steps.clear()
    source.connection.set_progress_handler(lambda: steps.append(1) or len(steps) > most, 1)
    text = await pages.text("/", 503)
    assert "index_invalid" in text
    assert "nexus-tools index rebuild" in text


async def test_tool_page_works_without_the_node(pages, chain):
    """The index still has the record of a tool if the node does not respond."""
    from nexus_tools.explorer import ChainReader
    from nexus_tools.sui.client import RetryPolicy, SuiClient
    from nexus_tools.sui.network import Network

    nowhere = Network("localnet", "http://127.0.0.1:1")
    policy = RetryPolicy.interactive(0.2)
    async with SuiClient(nowhere, retry_policy=policy) as client:
        pages.explorer.open(pages.explorer._source, ChainReader(client, chain.deployment))
        text = await pages.text(f"/tools/{ADD}")
        assert "The node does not respond" in text
        assert "Newest invocations" in text
        assert "The node does not respond" in await pages.text(f"/leaders/{await _leader(pages)}")


async def _leader(pages):
    response = await pages.http.get("/api/leaders")
    assert isinstance(response, httpx.Response)
    return response.json()["items"][0]["id"]
