import asyncio
from contextlib import asynccontextmanager

import pytest
from mcp import Client, MCPError, StdioServerParameters

from nexus_tools.mcp_server import http_app, mcp_server

MODES = ("auto", "legacy")


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture(params=["memory", "stdio", "http"])
def connect(request, mode, catalogue, stdio_program, serve_app):
    """Return a function that connects an SDK client in memory, over stdio, or over HTTP."""

    @asynccontextmanager
    async def connect():
        server = mcp_server(catalogue, name="memory", version="1.2.3", page_size=3)
        if request.param == "http":
            server = await serve_app(http_app(server)) + "/mcp"
        elif request.param == "stdio":
            server = StdioServerParameters(command=stdio_program[0], args=stdio_program[1:])
        async with Client(server, mode=mode, cache=None) as client:
            yield client

    return connect


@pytest.fixture
async def client(mode, catalogue):
    """Return a client in memory, of one generation of the protocol."""
    server = mcp_server(catalogue, name="memory", version="1.2.3", page_size=3)
    async with Client(server, mode=mode, cache=None) as client:
        yield client


async def everything(client):
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def test_list_has_every_tool_once_over_every_transport_and_generation(connect, memory):
    async with connect() as client:
        titles = [tool.title for tool in await everything(client)]
    assert titles == [str(each.fqn) for each in memory.MemoryCatalogue().definitions]


async def test_tool_is_called_over_every_transport_in_both_generations(connect):
    async with connect() as client:
        result = await client.call_tool("xyz_math_divide_v1", {"a": 7, "b": 2})
    assert not result.is_error
    assert result.structured_content == {"ok": {"quotient": 3.5}}


async def test_server_reports_its_name_and_version(client):
    assert (client.server_info.name, client.server_info.version) == ("memory", "1.2.3")


async def test_page_has_at_most_its_size_and_the_next_cursor(client):
    first = await client.list_tools()
    second = await client.list_tools(cursor=first.next_cursor)
    third = await client.list_tools(cursor=second.next_cursor)
    assert [len(page.tools) for page in (first, second, third)] == [3, 3, 1]
    assert third.next_cursor is None


async def test_unpresentable_tool_is_omitted(catalogue):
    def annotate(definition):
        if definition.fqn.name == "divide":
            raise KeyError("title")

    served = mcp_server(catalogue, name="memory", version="1", annotate=annotate)
    async with Client(served) as client:
        titles = [tool.title for tool in (await client.list_tools()).tools]
    assert titles == [str(each.fqn) for each in catalogue.definitions[1:]]


@pytest.mark.parametrize("cursor", ["nonsense", "bm9uc2Vuc2U=", "3", "Ä"])
async def test_unissued_cursor_is_an_invalid_parameter(client, cursor):
    with pytest.raises(MCPError) as raised:
        await client.list_tools(cursor=cursor)
    assert raised.value.code == -32602


async def test_listed_tool_has_its_schemas_with_an_explicit_object_type(client, memory):
    [tool] = [tool for tool in await everything(client) if tool.name == "xyz_math_divide_v1"]
    assert tool.input_schema == memory.DIVIDE.input_schema
    assert tool.output_schema == {"type": "object"} | memory.DIVIDE.output_schema
    assert tool.description == "The tool xyz.math.divide@1."


async def test_listed_tool_has_its_fqn(client):
    [tool] = [tool for tool in await everything(client) if tool.name == "xyz_math_divide_v1"]
    assert tool.meta == {
        "nexus/fqn": "xyz.math.divide@1",
        "nexus/type": "offchain",
        "nexus/timeout_ms": 2_000,
    }


async def test_annotations_are_listed_where_known(catalogue, memory, mode):
    from mcp_types import ToolAnnotations

    def annotate(definition):
        return ToolAnnotations(read_only_hint=True) if definition is memory.DIVIDE else None

    catalogue.definitions = [memory.DIVIDE, memory.STEPS]
    server = mcp_server(catalogue, name="memory", version="1", annotate=annotate)
    async with Client(server, mode=mode) as client:
        divide, steps = (await client.list_tools()).tools
    assert divide.annotations.read_only_hint is True
    assert steps.annotations is None


async def test_outcome_is_structured_content_and_the_same_as_text(client):
    result = await client.call_tool("xyz_math_divide_v1", {"a": 1, "b": 4})
    [block] = result.content
    assert block.type == "text"
    assert block.text == '{"ok": {"quotient": 0.25}}'


async def test_null_port_is_passed_on(client):
    result = await client.call_tool("xyz_math_nothing_v3")
    assert result.structured_content == {"ok": {"value": None}}


async def test_error_variant_is_an_error_that_matches_the_output_schema(client):
    result = await client.call_tool("xyz_math_divide_v1", {"a": 1, "b": 0})
    assert result.is_error
    assert result.structured_content == {"err": {"reason": "division by zero"}}


async def test_failure_is_an_error_without_structured_content(client):
    [name] = [tool.name for tool in await everything(client) if "over_loaded" in tool.name]
    result = await client.call_tool(name)
    assert result.is_error
    assert result.structured_content is None
    assert result.content[0].text == "timed_out: the tool took longer than 2000 ms"


async def test_invalid_arguments_are_an_error_with_pointers_and_nothing_is_called(
    client, catalogue
):
    result = await client.call_tool("xyz_math_divide_v1", {"a": "one", "b": 2})
    assert result.is_error
    assert result.structured_content is None
    text = result.content[0].text
    assert text.startswith("input_invalid: ")
    assert "- /a: " in text
    assert catalogue.calls == []


async def test_missing_arguments_are_checked(client, catalogue):
    result = await client.call_tool("xyz_math_divide_v1")
    assert result.is_error
    assert catalogue.calls == []


async def test_unknown_name_is_an_invalid_parameter(client):
    with pytest.raises(MCPError, match="unknown tool 'xyz_math_missing_v1'") as raised:
        await client.call_tool("xyz_math_missing_v1")
    assert raised.value.code == -32602


async def test_unknown_names_do_not_trigger_repeated_catalogue_reads(client, catalogue):
    for name in ("one", "two", "three"):
        with pytest.raises(MCPError):
            await client.call_tool(name)
    assert catalogue.pages == 3  # each page is read once


async def test_name_from_another_process_is_found(client, catalogue):
    result = await client.call_tool("xyz_math_steps_v1", {"count": 0})
    assert result.structured_content == {"ok": {"done": 0}}


async def test_removed_tool_is_no_longer_called(client, catalogue):
    await everything(client)
    catalogue.definitions.clear()
    with pytest.raises(MCPError, match="unknown tool"):
        await client.call_tool("xyz_math_divide_v1", {"a": 1, "b": 1})


async def test_progress_reaches_a_client_with_a_token(connect):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, message))

    async with connect() as client:
        await client.call_tool("xyz_math_steps_v1", {"count": 3}, progress_callback=hear)
    assert heard == [(1, "step 0"), (2, "step 1"), (3, "step 2")]


async def test_calls_run_concurrently(connect):
    async with connect() as client:
        results = await asyncio.gather(*[client.call_tool("xyz_math_meeting_v1") for _ in range(2)])
    assert [result.structured_content for result in results] == [{"ok": {}}, {"ok": {}}]


# Over HTTP, a client of the older generation sends a cancellation as a separate request, which
# cannot reach the call without sessions.
@pytest.mark.parametrize(
    ("transport", "generation"), [("memory", "auto"), ("memory", "legacy"), ("http", "auto")]
)
async def test_cancelled_request_cancels_the_call(catalogue, transport, generation, serve_app):
    server = mcp_server(catalogue, name="memory", version="1")
    if transport == "http":
        server = await serve_app(http_app(server)) + "/mcp"
    async with Client(server, mode=generation) as client:
        call = asyncio.create_task(client.call_tool("xyz_math_forever_v1"))
        await catalogue.started.wait()
        call.cancel()
        await catalogue.cancelled.wait()


async def test_catalogue_defect_is_not_shown_to_clients(client):
    with pytest.raises(MCPError, match="internal server error") as raised:
        await client.call_tool("xyz_math_broken_v1")
    assert raised.value.code == -32603
    assert "secret" not in str(raised.value)
