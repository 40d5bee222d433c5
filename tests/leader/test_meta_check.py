import json
from dataclasses import replace

import pytest

from nexus_tools.leader.dispatch.meta_check import MetaCheck
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

pytestmark = pytest.mark.anyio

TOOL = Address.of(0x7001)


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def check(http_client, clock):
    return MetaCheck(http_client, 600.0, clock)


async def test_matching_meta_is_accepted(check, serve_tools, add_tool, add_definition):
    url = await serve_tools(add_tool)
    assert await check.problem(TOOL, 1, add_definition(url)) == ""


async def test_other_url_timeout_or_description_is_accepted(
    check, serve_tools, add_tool, add_definition
):
    url = await serve_tools(add_tool)
    changed = replace(add_definition(url), timeout_ms=99_000, description="new")
    assert await check.problem(TOOL, 1, changed) == ""


async def test_other_schemas_are_reported(check, serve_tools, add_tool, add_definition):
    url = await serve_tools(add_tool)
    definition = add_definition(url)
    schema = {**definition.input_schema, "maxProperties": 1}
    problem = await check.problem(TOOL, 1, replace(definition, input_schema=schema))
    assert "schemas" in problem


async def test_other_tool_is_reported(check, serve_tools, add_tool, add_definition):
    url = await serve_tools(add_tool)
    other = replace(add_definition(url), fqn=ToolFqn.parse("xyz.example.math.add@2"))
    assert "a different tool" in await check.problem(TOOL, 1, other)


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"fqn": "x"}', b" " * 300_000])
async def test_invalid_meta_is_reported(check, serve_bytes, respond, add_definition, body):
    server = await serve_bytes(respond(body=body))
    assert "is not a valid definition" in await check.problem(TOOL, 1, add_definition(server.url))


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_missing_meta_is_accepted(check, serve_bytes, respond, add_definition, status):
    server = await serve_bytes(respond(status))
    assert await check.problem(TOOL, 1, add_definition(server.url)) == ""


async def test_meta_is_read_again_after_its_lifetime_or_a_tool_change(
    check, clock, serve_bytes, respond, add_definition
):
    served = json.dumps(add_definition().as_json()).encode()
    server = await serve_bytes(respond(body=served))
    definition = add_definition(server.url)
    await check.problem(TOOL, 1, definition)
    await check.problem(TOOL, 1, definition)
    assert len(server.requests) == 1
    await check.problem(TOOL, 2, definition)
    assert len(server.requests) == 2
    clock.seconds = 601.0
    await check.problem(TOOL, 2, definition)
    assert len(server.requests) == 3


async def test_mismatch_is_checked_again_soon(check, clock, serve_bytes, respond, add_definition):
    server = await serve_bytes(respond(body=b"{}"))
    definition = add_definition(server.url)
    await check.problem(TOOL, 1, definition)
    clock.seconds = 31.0
    await check.problem(TOOL, 1, definition)
    assert len(server.requests) == 2
