"""The search mode, in which a client sees three tools."""

import asyncio
import json
from contextlib import asynccontextmanager
from functools import partialmethod

import pytest
from mcp import Client, MCPError

from nexus_tools.mcp_server import http_app, mcp_server
from nexus_tools.mcp_server.search_index import CatalogueIndex

pytestmark = pytest.mark.anyio

DIVIDE = "xyz.math.divide@1"


@pytest.fixture(params=["auto", "legacy"])
def mode(request):
    return request.param


@pytest.fixture
def server(catalogue):
    return mcp_server(catalogue, name="memory", version="1", mode="search", page_size=3)


@pytest.fixture(params=["memory", "http"])
def connect(request, mode, server, serve_app):
    @asynccontextmanager
    async def connect():
        place = server
        if request.param == "http":
            place = await serve_app(http_app(server)) + "/mcp"
        async with Client(place, mode=mode, cache=None) as client:
            yield client

    return connect


@pytest.fixture
async def client(mode, server):
    async with Client(server, mode=mode, cache=None) as client:
        yield client


async def test_search_mode_tools_find_describe_and_call_a_tool(connect):
    async with connect() as client:
        tools = (await client.list_tools()).tools
        results = (await client.call_tool("find_tools", {"query": "divide"})).structured_content
        [first, *_] = results["tools"]
        described = await client.call_tool("describe_tool", {"fqn": first["fqn"]})
        called = await client.call_tool(
            "call_tool", {"fqn": first["fqn"], "inputs": {"a": 7, "b": 2}}
        )
    assert [tool.name for tool in tools] == ["find_tools", "describe_tool", "call_tool"]
    assert described.structured_content["input_schema"]["required"] == ["a", "b"]
    assert called.structured_content == {"ok": {"quotient": 3.5}}


@pytest.mark.parametrize("cursor", ["nonsense", "Mw==", ""])
async def test_every_cursor_is_an_invalid_parameter(client, cursor):
    with pytest.raises(MCPError) as raised:
        await client.list_tools(cursor=cursor)
    assert raised.value.error.code == -32602
    assert raised.value.error.data == {"code": "cursor_invalid"}


async def test_found_tool_has_a_summary_with_inputs_and_outputs(client):
    results = await client.call_tool("find_tools", {"query": "divide"})
    assert results.structured_content["tools"][0] == {
        "fqn": DIVIDE,
        "description": f"The tool {DIVIDE}.",
        "inputs": "a: number, b: number",
        "outputs": ["ok(quotient)", "err(reason)"],
    }
    assert json.loads(results.content[0].text) == results.structured_content


async def test_search_lists_every_tool_once_over_all_pages(client, memory):
    fqns, page = [], 1
    while page:
        arguments = {"limit": 3, "page": page}
        results = (await client.call_tool("find_tools", arguments)).structured_content
        assert results["total"] == 7
        fqns += [tool["fqn"] for tool in results["tools"]]
        page = results.get("next_page")
    assert fqns == sorted(str(tool.fqn) for tool in memory.MemoryCatalogue().definitions)


async def test_search_reports_that_the_catalogue_is_still_read(memory, monkeypatch):
    class SlowCatalogue(memory.MemoryCatalogue):
        async def page(self, cursor, _):
            if cursor is not None:
                await asyncio.Event().wait()
            return await super().page(cursor, 3)

    monkeypatch.setattr(
        CatalogueIndex, "__init__", partialmethod(CatalogueIndex.__init__, patience_s=0)
    )
    server = mcp_server(SlowCatalogue(), name="memory", version="1", mode="search")
    async with Client(server, cache=None) as client:
        results = [(await client.call_tool("find_tools", {})).structured_content for _ in "ab"]
    assert [result["incomplete"] for result in results] == [True, True]


async def test_find_and_describe_are_read_only(client):
    hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    assert hints["find_tools"].read_only_hint
    assert hints["describe_tool"].read_only_hint
    assert not hints["call_tool"].read_only_hint


async def test_error_variant_is_an_error(client):
    arguments = {"fqn": DIVIDE, "inputs": {"a": 1, "b": 0}}
    result = await client.call_tool("call_tool", arguments)
    assert result.is_error
    assert result.structured_content == {"err": {"reason": "division by zero"}}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("call_tool", {"fqn": "xyz.math.none@1"}, "tool_unknown"),
        ("call_tool", {"fqn": "divide"}, "fqn_invalid"),
        ("call_tool", {"fqn": DIVIDE, "inputs": {"a": 1}}, "input_invalid"),
        ("call_tool", {"fqn": DIVIDE, "inputs": [1]}, "/inputs"),
        ("describe_tool", {}, "fqn"),
        ("find_tools", {"limit": 0}, "/limit"),
        ("find_tools", {"page": 0}, "/page"),
        ("find_tools", {"words": "divide"}, "words"),
    ],
)
async def test_model_mistakes_are_reported_to_the_model(client, catalogue, tool, arguments, words):
    result = await client.call_tool(tool, arguments)
    assert (result.is_error, result.structured_content) == (True, None)
    assert words in result.content[0].text
    assert catalogue.calls == []


async def test_unknown_tool_name_is_an_invalid_parameter(client):
    with pytest.raises(MCPError) as raised:
        await client.call_tool("xyz_math_divide_v1", {"a": 1, "b": 2})
    assert raised.value.code == -32602


async def test_progress_reaches_a_client_with_a_token(client):
    messages = []

    async def hear(progress, _, message):
        messages.append((progress, message))

    arguments = {"fqn": "xyz.math.steps@1", "inputs": {"count": 2}}
    await client.call_tool("call_tool", arguments, progress_callback=hear)
    assert messages == [(1, "step 0"), (2, "step 1")]


async def test_search_mode_listing_is_smaller_than_4_kib(client):
    listing = (await client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)
    assert len(listing) < 4_096
