"""Unmodified tools of other systems, end to end: discovered, served, registered, settled."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgeHost, Naming
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
    return BridgeHost(
        python=Path(sys.executable),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        environment={"PATH": os.environ["PATH"]},
    )


@pytest.fixture
async def bridge_and_register(stage, author, serve, host):
    """Return a function that discovers, serves and registers the tools at a location."""

    async def bridge_and_register(place, domain):
        bridges = [UnstractBridge(), SosBridge(), NoraBridge(), HyperpocketBridge(), McpBridge()]
        result = await discover([place], bridges, host, Naming(domain))
        assert result.rejected == ()
        server = ToolServer(result.tools, lifespan=lambda _: result.running())
        definitions = server.definitions(await serve(server))
        registry = ToolRegistry(author, stage.deployment)
        await registry.register(*(Registration(definition, 0) for definition in definitions))
        return registry

    return bridge_and_register


async def call(requester, stage, record, inputs):
    invocations = Invocations(requester, stage.deployment)
    _, invocation = await invocations.request(record, inputs)
    async with asyncio.timeout(60):
        return await invocations.wait_until_closed(invocation)


@pytest.mark.parametrize("system", CALLS)
async def test_bridged_tool_is_invoked_through_the_chain(
    system, bridge_and_register, requester, stage, leader
):
    name, inputs, expected = CALLS[system]
    registry = await bridge_and_register(EXAMPLES / system, f"xyz.flows.{system}")
    record = await registry.get(ToolFqn.parse(f"xyz.flows.{system}.{name}@1"))
    closed = await call(requester, stage, record, inputs)
    assert closed.state.variant == "ok"
    ports = closed.state.ports.as_json()
    assert {port: ports[port] for port in expected} == expected


@pytest.mark.long
async def test_bridged_tool_settles_with_its_error(bridge_and_register, requester, stage, leader):
    registry = await bridge_and_register(EXAMPLES / "mcp", "xyz.flows.failing")
    record = await registry.get(ToolFqn.parse("xyz.flows.failing.units.convert@1"))
    cold = {"degrees": -300, "from_unit": "celsius", "to_unit": "kelvin"}
    closed = await call(requester, stage, record, cold)
    assert closed.state.variant == "err"


async def test_chain_of_bridged_actions_is_one_tool(bridge_and_register, requester, stage, leader):
    registry = await bridge_and_register(EXAMPLES / "sos", "xyz.flows.chain")
    record = await registry.get(ToolFqn.parse("xyz.flows.chain.reading.summary@1"))
    closed = await call(requester, stage, record, {})
    assert closed.state.ports.as_json()["results"]["pick"]["word"] == "the"


async def test_missing_credentials_are_reported_on_chain(
    bridge_and_register, requester, stage, leader
):
    registry = await bridge_and_register(EXAMPLES / "hyperpocket" / "phrases", "xyz.flows.signing")
    record = await registry.get(ToolFqn.parse("xyz.flows.signing.sign@1"))
    closed = await call(requester, stage, record, {"phrase": "ho"})
    assert closed.state.variant == "auth_required"
    assert closed.state.ports.as_json()["provider"] == "github"
