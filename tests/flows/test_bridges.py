"""Tools of other systems, unchanged, on their whole way: found, served, registered, settled."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import Host, Naming
from nexus_tools.bridges.discovery import discover
from nexus_tools.bridges.hyperpocket import HyperpocketBridge
from nexus_tools.bridges.mcp import McpBridge
from nexus_tools.bridges.nora import NoraBridge
from nexus_tools.bridges.sos import SosBridge
from nexus_tools.bridges.unstract import UnstractBridge
from nexus_tools.registry import Invocations, Registration, ToolRegistry
from nexus_tools.tool import ToolFqn
from nexus_tools.tool_server import ToolServer

EXAMPLES = Path(__file__).parents[2] / "examples" / "bridges"
TEXT = "the tool and the wire and the log"
CALLS = {
    "nora": ("word_count", {"text": TEXT, "word": "the"}, {"result": "3"}),
    "sos": (
        "text.count_words",
        {"text": "one two one"},
        {"result": {"counts": {"one": 2, "two": 1}, "total": 3}},
    ),
    "hyperpocket": ("repeat", {"phrase": "ho", "times": 3}, {"result": "ho ho ho"}),
    "unstract": (
        "word_count",
        {"file": {"name": "a.txt", "text": TEXT}, "settings": {}},
        {"output": {"words": 8, "different": 5}},
    ),
    "mcp": (
        "units.convert",
        {"degrees": 100, "from_unit": "celsius", "to_unit": "fahrenheit"},
        {"degrees": 212.0, "unit": "fahrenheit"},
    ),
}


@pytest.fixture
def host(tmp_path):
    return Host(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={"PATH": os.environ["PATH"]},
    )


@pytest.fixture
async def borrow(stage, author, serve, host):
    """Find, serve and register the tools of a place; gives the registry."""

    async def borrow(place, domain):
        bridges = [UnstractBridge(), SosBridge(), NoraBridge(), HyperpocketBridge(), McpBridge()]
        found = await discover([place], bridges, host, Naming(domain))
        assert found.refused == ()
        server = ToolServer(found.tools, lifespan=lambda _: found.running())
        definitions = server.definitions(await serve(server))
        registry = ToolRegistry(author, stage.deployment)
        await registry.register(*(Registration(definition, 0) for definition in definitions))
        return registry

    return borrow


async def call(requester, stage, record, inputs):
    invocations = Invocations(requester, stage.deployment)
    _, invocation = await invocations.request(record, inputs)
    async with asyncio.timeout(60):
        return await invocations.closed(invocation)


@pytest.mark.parametrize("system", CALLS)
async def test_a_tool_of_another_system_is_invoked_through_the_chain(
    system, borrow, requester, stage, leader
):
    name, inputs, expected = CALLS[system]
    registry = await borrow(EXAMPLES / system, f"xyz.flows.{system}")
    record = await registry.get(ToolFqn.parse(f"xyz.flows.{system}.{name}@1"))
    closed = await call(requester, stage, record, inputs)
    assert closed.state.variant == "ok"
    ports = closed.state.ports.as_json()
    assert {port: ports[port] for port in expected} == expected


async def test_a_tool_that_fails_is_settled_with_its_error(borrow, requester, stage, leader):
    registry = await borrow(EXAMPLES / "mcp", "xyz.flows.failing")
    record = await registry.get(ToolFqn.parse("xyz.flows.failing.units.convert@1"))
    cold = {"degrees": -300, "from_unit": "celsius", "to_unit": "kelvin"}
    closed = await call(requester, stage, record, cold)
    assert closed.state.variant == "err"


async def test_a_chain_of_another_systems_actions_is_one_tool(borrow, requester, stage, leader):
    registry = await borrow(EXAMPLES / "sos", "xyz.flows.chain")
    record = await registry.get(ToolFqn.parse("xyz.flows.chain.reading.summary@1"))
    closed = await call(requester, stage, record, {})
    assert closed.state.ports.as_json()["results"]["pick"]["word"] == "the"


async def test_a_tool_whose_credentials_are_missing_says_so_on_chain(
    borrow, requester, stage, leader
):
    registry = await borrow(EXAMPLES / "hyperpocket" / "phrases", "xyz.flows.signing")
    record = await registry.get(ToolFqn.parse("xyz.flows.signing.sign@1"))
    closed = await call(requester, stage, record, {"phrase": "ho"})
    assert closed.state.variant == "auth_required"
    assert closed.state.ports.as_json()["provider"] == "github"
