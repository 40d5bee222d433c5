"""The documents of the API: the same facts as in the index, in pages."""

import msgspec
import pytest

from nexus_tools.index import Index
from nexus_tools.index.api import McpServer
from nexus_tools.sui.types.address import Address
from tests.index.api.conftest import build_text_index
from tests.index.conftest import ADD, PRICED, SUM
from tests.index.synthetic import object_id

pytestmark = pytest.mark.anyio


@pytest.fixture
async def written(eventful, new_index, pipeline):
    """Return an index of a chain on which much happened."""
    index = new_index()
    await pipeline(index).catch_up()
    return index


@pytest.fixture
async def client(written, serve):
    return await serve(written)


def fqns(page):
    return [item["fqn"] for item in page["items"]]


async def read_pages(client, path, **parameters):
    page = await client.json(path, **parameters)
    items = page["items"]
    while page["next"] is not None:
        page = await client.json(path, after=page["next"], **parameters)
        items += page["items"]
    return items


async def test_lists_contain_the_same_as_the_index(client, written, eventful):
    with Index(written.path, written.identity) as index:
        lists = {
            "tools": index.tools(),
            "leaders": index.leaders(),
            "invocations": index.invocations(),
            "workflows": index.workflows(),
            "executions": index.executions(),
            "schedules": index.schedules(),
        }
        for name, page in lists.items():
            document = await client.json(f"/api/{name}")
            expected = msgspec.to_builtins(page.items, enc_hook=str)
            got = [
                {key: value for key, value in item.items() if key != "reason"}
                for item in document["items"]
            ]
            assert got == msgspec.json.decode(msgspec.json.encode(expected)), name
            assert document["next"] is None
            assert document["checkpoint"] == page.checkpoint
            assert document["complete_since"] == 0
        status = msgspec.to_builtins(index.status(), enc_hook=str)
    assert await client.json("/api/status") == status
    assert 0 < status["checkpoint"] <= await eventful.clients["user"].latest_checkpoint()


async def test_tools_are_filtered(client, eventful):
    owner = str(eventful.clients["user"].address)
    for parameters, expected in [
        ({}, [PRICED, ADD]),
        ({"sort": "name"}, [ADD, PRICED]),
        ({"max_price": 0}, [ADD]),
        ({"owner": owner}, [ADD]),
        ({"domain": "xyz.example.math"}, [ADD]),
        ({"domain": "xyz.exam"}, []),
        ({"state": "active"}, [ADD]),
        ({"limit": 1}, [PRICED]),
    ]:
        assert fqns(await client.json("/api/tools", **parameters)) == expected


async def test_tool_shows_its_record(client):
    document = await client.json(f"/api/tools/{ADD}")
    assert document["item"]["tool"]["fqn"] == ADD
    outcomes = document["item"]["windows"]["last_30_days"]["outcomes"]
    assert outcomes == {"settled": 2, "unreachable": 1, "expired": 1}
    assert await client.fails("/api/tools/xyz.example.missing@1") == (404, "not_found")


async def test_invocations_are_filtered(client, eventful):
    requester = str(eventful.clients["admin"].address)
    by_requester = await client.json("/api/invocations", requester=requester)
    assert sorted(fqns(by_requester)) == sorted([ADD, PRICED])
    by_tool = await client.json("/api/invocations", tool=PRICED)
    assert set(fqns(by_tool)) == {PRICED}
    opened = await client.json("/api/invocations", outcome="open")
    assert {item["outcome"] for item in opened["items"]} == {None}
    expired = await client.json("/api/invocations", outcome="expired")
    assert {item["outcome"] for item in expired["items"]} == {"expired"}
    closed = await client.json("/api/invocations", leader=str(eventful.leader))
    assert {item["closed_by"] for item in closed["items"]} == {str(eventful.leader)}
    one = closed["items"][0]
    assert (await client.json(f"/api/invocations/{one['id']}"))["item"] == one
    missing = Address.of(5)
    assert await client.fails(f"/api/invocations/{missing}") == (404, "not_found")
    assert await client.fails("/api/invocations", tool="xyz.none@1") == (404, "not_found")


async def test_leader_filter_excludes_other_filters(client, eventful):
    leader = str(eventful.leader)
    answer = await client.fails("/api/invocations", leader=leader, outcome="closed")
    assert answer == (400, "parameter_invalid")


async def test_leader_shows_its_record(client, eventful):
    document = await client.json(f"/api/leaders/{eventful.leader}")
    assert document["item"]["leader"]["id"] == str(eventful.leader)
    assert document["item"]["windows"]["last_30_days"]["outcomes"]["settled"] == 4
    assert await client.fails(f"/api/leaders/{Address.of(5)}") == (404, "not_found")


async def test_workflows_are_filtered(client, eventful):
    user = str(eventful.clients["user"].address)
    [workflow] = (await client.json("/api/workflows"))["items"]
    assert workflow["fqn"] == SUM
    executions = await client.json("/api/executions", workflow=workflow["id"])
    assert len(executions["items"]) == 2
    [schedule] = (await client.json("/api/schedules", owner=user))["items"]
    [scheduled] = (await client.json("/api/executions", schedule=schedule["id"]))["items"]
    assert scheduled["schedule"] == schedule["id"]


async def test_stats_count_all_closings(client):
    days = (await client.json("/api/stats"))["days"]
    assert sum(sum(day["performance"]["outcomes"].values()) for day in days) >= 7


async def test_search_finds_words_and_says_why(client, written):
    build_text_index(written)
    found = await client.json("/api/tools", q="math add")
    assert fqns(found) == [ADD]
    assert found["items"][0]["reason"]
    assert found["fits"]
    assert fqns(await client.json("/api/tools", q="math add", max_price=0)) == [ADD]
    assert fqns(await client.json("/api/tools", q="math add", domain="org")) == []
    assert fqns(await client.json("/api/tools", q="")) == [PRICED, ADD]
    nothing = await client.json("/api/tools", q="zebra")
    assert (nothing["items"], nothing["fits"]) == ([], False)


async def test_search_without_a_text_index_is_unavailable(client):
    response = await client.get("/api/tools", params={"q": "add"})
    assert (response.status_code, response.json()["code"]) == (503, "text_index_unusable")
    assert response.headers["retry-after"] == "10"
    assert "/" not in response.json()["detail"]


async def test_pages_of_a_search_contain_each_tool_once(synthetic, serve):
    synthetic.write(*(synthetic.events.tool(number) for number in range(25)))
    synthetic.build_text_index()
    client = await serve(synthetic.index)
    seen = await read_pages(client, "/api/tools", q="number", limit=10, sort="price")
    assert len({tool["fqn"] for tool in seen}) == len(seen) == 25
    assert [tool["price_mist"] for tool in seen] == sorted(tool["price_mist"] for tool in seen)


async def test_pages_of_a_list_contain_each_item_once(synthetic, serve):
    events = synthetic.events
    items = [event for number in range(30) for event in events.invocation(number)]
    synthetic.write(*(events.tool(number) for number in range(10)), *items)
    client = await serve(synthetic.index)
    for path in (
        "/api/tools",
        "/api/invocations",
        f"/api/invocations?leader={object_id('leader', 1)}",
    ):
        whole = (await client.json(path, limit=100))["items"] if "?" not in path else None
        seen, after = [], ""
        while True:
            separator = "&" if "?" in path else "?"
            response = await client.get(f"{path}{separator}limit=4{after}")
            page = response.json()
            seen += page["items"]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert seen == (whole if whole is not None else seen)
        assert len({item["id"] for item in seen}) == len(seen) > 4


async def test_metadata_describes_every_table(client, written):
    metadata = await client.json("/metadata.json")
    tables = metadata["databases"][written.path.stem]["tables"]
    assert "requests" in tables
    names = written.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    assert set(tables) <= {name for (name,) in names}


# --- MCP registry


async def test_registry_is_empty_without_a_server(client):
    servers = await client.json("/v0.1/servers")
    assert servers == {"servers": [], "metadata": {"count": 0}}


async def test_registry_lists_the_server_of_the_operator(written, serve):
    server = McpServer.at("https://tools.example.com/mcp")
    client = await serve(written, mcp_server=server)
    servers = await client.json("/v0.1/servers", search="EXAMPLE", version="latest", limit=5)
    [entry] = servers["servers"]
    assert entry["server"]["name"] == "com.example.tools/nexus-tools"
    assert entry["server"]["remotes"] == [
        {"type": "streamable-http", "url": "https://tools.example.com/mcp"}
    ]
    for version in ("latest", entry["server"]["version"]):
        path = f"/v0.1/servers/com.example.tools%2Fnexus-tools/versions/{version}"
        assert await client.json(path) == entry
    versions = await client.json("/v0.1/servers/com.example.tools%2Fnexus-tools/versions")
    assert versions == servers
    assert await client.json("/v0.1/servers", search="other") == {
        "servers": [],
        "metadata": {"count": 0},
    }
    assert await client.fails("/v0.1/servers/a%2Fb/versions/latest") == (404, "not_found")
    assert await client.fails("/v0.1/servers", cursor="x") == (400, "parameter_invalid")
    assert await client.json("/v0.1/servers", cursor="") == await client.json("/v0.1/servers")
