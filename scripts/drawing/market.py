"""A market on a localnet for screenshots: tools of several authors, two weeks of calls, a workflow.

All keys, texts and outcomes are constants, so two markets differ only in their IDs and times.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from random import Random
from typing import Any

from documents.page import ROOT
from nexus_tools.contracts import Deployment, Publisher
from nexus_tools.explorer import ChainReader, Explorer, serve_explorer
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.index import IndexIdentity, IndexPipeline, IndexWriter, SearchUpdate, open_writer
from nexus_tools.index.api import ApiLimits, IndexSource
from nexus_tools.leader import Leader, LeaderConfig
from nexus_tools.registry import (
    Executions,
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    Workflows,
)
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Localnet
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import (
    Answer,
    Failure,
    FailureReason,
    ToolDefinition,
    example_answer,
    example_input,
)
from nexus_tools.tool_server import ToolServer, load
from nexus_tools.workflow import read_document

FORECAST = "com.acme.weather.forecast@2"

_WORKFLOW = "xyz.example.text.count_all@1"
_SUI = 10**9
_DAY_MS = 86_400_000
_DAYS = 14
_CALLS_PER_DAY = 4
_FAILURES = (FailureReason.UNREACHABLE, FailureReason.TIMED_OUT, FailureReason.OVERLOADED)
_PEOPLE = ("admin", "author", "alice", "bob", "zurich", "north")
_EXAMPLES = ("examples/tools.py", "examples/workflows/tools.py")
_UNLIMITED = ApiLimits(requests_per_s=1_000, burst=2_000, streams_per_client=100)


@dataclass(frozen=True)
class Market:
    """The URL of the explorer, and the invocation and the execution that screenshots show."""

    url: str
    invocation: Address
    execution: Address


@dataclass(frozen=True)
class _Accounts:
    """The chain, the clients and the leaders, by the name of the owner."""

    net: Localnet
    deployment: Deployment
    clients: Mapping[str, SuiClient]
    leaders: Mapping[str, Address]

    @property
    def tools(self) -> ToolRegistry:
        return ToolRegistry(self.clients["author"], self.deployment)


def _key(name: str) -> KeyPair:
    return KeyPair.from_bytes(b"\0" + bytes([40 + _PEOPLE.index(name)] * 32))


@asynccontextmanager
async def running_market() -> AsyncIterator[Market]:
    """Run the market with an explorer until the block ends."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        accounts = await _open(stack)
        invocation = await _trade(accounts)
        execution = await _run_workflow(accounts, folder)
        await _request(accounts, _TOOLS[1], "alice", "zurich")
        await _request(accounts, _TOOLS[4], "bob", "north")
        yield Market(await _explore(accounts, folder, stack), invocation, execution)


async def _open(stack: AsyncExitStack) -> _Accounts:
    net = Localnet(port=0)
    await net.start()
    stack.push_async_callback(net.stop)
    network = Network("localnet", net.url)
    clients = {}
    for name in _PEOPLE:
        net.fund(_key(name).address, 1_000 * _SUI)
        clients[name] = await stack.enter_async_context(SuiClient(network, _key(name)))
    deployment = (await Publisher(clients["admin"]).publish()).deployment
    assert deployment is not None
    leaders = {}
    for owner, name in (("zurich", "Zürich"), ("north", "North Wind")):
        registry = LeaderRegistry(clients[owner], deployment)
        _, leaders[owner] = await registry.register(name, activate=True)
    return _Accounts(net, deployment, clients, leaders)


# --- Two weeks of calls


def _object(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    names = [*properties] if required is None else [*required]
    return {"type": "object", "properties": dict(properties), "required": names}


def _text(description: str, *examples: str) -> dict[str, Any]:
    return {"type": "string", "description": description, "examples": [*examples]}


def _outputs(**variants: Mapping[str, Any]) -> dict[str, Any]:
    kinds = [_object({name: _object(ports)}) for name, ports in variants.items()]
    return {"type": "object", "oneOf": kinds}


_PLACE = _text("Name of a city, or latitude and longitude", "Zürich")
_DAYS_AHEAD = {"type": "integer", "minimum": 1, "maximum": 14, "description": "Number of days"}
_UNIT = {"enum": ["celsius", "fahrenheit"], "default": "celsius", "description": "Temperature unit"}
_SUMMARY = _text("The weather in one sentence", "Sunny, 24 degrees")
_REASON = _text("Why the request was refused", "the place is unknown")
_TOOLS: tuple[tuple[str, str, dict[str, Any], dict[str, Any], int], ...] = (
    (
        "com.acme.weather.forecast@1",
        "Returns the weather forecast for a place, for up to 14 days.",
        _object({"place": _PLACE, "days": _DAYS_AHEAD}, ["place"]),
        _outputs(ok={"summary": _SUMMARY}, err_unknown_place={"reason": _REASON}),
        2_000_000,
    ),
    (
        FORECAST,
        "Returns the weather forecast for a place, for up to 14 days, with the air quality.",
        _object({"place": _PLACE, "days": _DAYS_AHEAD, "unit": _UNIT}, ["place"]),
        _outputs(
            ok={"summary": _SUMMARY, "air_quality": {"type": "integer", "examples": [42]}},
            err_unknown_place={"reason": _REASON},
        ),
        2_500_000,
    ),
    (
        "com.acme.text.count_words@1",
        "Counts the words of a text.",
        _object({"text": _text("The text", "to be or not to be")}),
        _outputs(ok={"count": {"type": "integer", "examples": [6]}}),
        100_000,
    ),
    (
        "io.pixel.image.resize@1",
        "Resizes an image to a width, and keeps its ratio.",
        _object({"url": _text("The image", "https://example.com/a.png"), "width": _DAYS_AHEAD}),
        _outputs(ok={"url": _text("The resized image", "https://example.com/b.png")}),
        5_000_000,
    ),
    (
        "org.lab.protein.fold@1",
        "Predicts the structure of a protein from its sequence of amino acids.",
        _object({"sequence": _text("One letter for each amino acid", "MKTAYIAKQR")}),
        _outputs(ok={"confidence": {"type": "number", "examples": [0.92]}}),
        40_000_000,
    ),
)


async def _trade(accounts: _Accounts) -> Address:
    """Register the tools and close calls of two weeks; return the last settled invocation."""
    random = Random(7)
    tools = accounts.tools
    for fqn, description, inputs, outputs, price_mist in _TOOLS:
        definition = ToolDefinition.parse(
            {
                "fqn": fqn,
                "url": "https://tools.acme.example",
                "description": description,
                "timeout": 8_000,
                "input_schema": inputs,
                "output_schema": outputs,
            }
        )
        leaders = tuple(accounts.leaders.values())
        await tools.register(Registration(definition, price_mist=price_mist, leaders=leaders))
    for _ in range(_DAYS):
        accounts.net.advance_clock(_DAY_MS)
        for _ in range(random.randint(2, _CALLS_PER_DAY)):
            is_settled = random.random() < 0.85
            outcome = None if is_settled else Failure(random.choice(_FAILURES), "no response")
            await _call(accounts, random.choice(_TOOLS), random, outcome)
    return await _call(accounts, _TOOLS[1], random, None)


async def _call(
    accounts: _Accounts, tool: tuple[Any, ...], random: Random, outcome: Failure | None
) -> Address:
    """Request an invocation, and close it with the outcome, or with an answer of the tool."""
    requester, owner = random.choice(("alice", "bob")), random.choice([*accounts.leaders])
    invocation = await _request(accounts, tool, requester, owner)
    accounts.net.advance_clock(random.randint(300, 4_000))
    closings = Invocations(accounts.clients[owner], accounts.deployment)
    answer: Answer | Failure = outcome or example_answer(tool[3], "ok")
    await closings.close(accounts.leaders[owner], {invocation: answer})
    return invocation


async def _request(
    accounts: _Accounts, tool: tuple[Any, ...], requester: str, owner: str
) -> Address:
    invocations = Invocations(accounts.clients[requester], accounts.deployment)
    found = await accounts.tools.get(tool[0])
    inputs, leaders = example_input(tool[2]), [accounts.leaders[owner]]
    _, invocation = await invocations.request(found, inputs, leaders=leaders)
    return invocation


# --- A workflow


async def _run_workflow(accounts: _Accounts, folder: Path) -> Address:
    """Publish a workflow of the examples, and let a Leader run an execution of it to its end."""
    servers = [load(str(ROOT / path)) for path in _EXAMPLES]
    listener = listening_socket("127.0.0.1", 0)
    url = url_of(listener)
    served = ToolServer([*{tool.fqn: tool for s in servers for tool in s.tools.values()}.values()])
    document, _ = read_document((ROOT / "examples/workflows/count.json").read_text())
    async with serve_embedded(served, listener):
        needed = {vertex.fqn for vertex in document.vertices}
        for tool in served.tools.values():
            if str(tool.fqn) in needed:
                await accounts.tools.register(Registration(tool.definition(url)))
        workflows = Workflows(accounts.clients["author"], accounts.deployment)
        await workflows.publish(document, _WORKFLOW, "Counts the words of each line, and adds up.")
        executions = Executions(accounts.clients["alice"], accounts.deployment)
        async with _leading(accounts, folder):
            started = await executions.start(
                await workflows.get(_WORKFLOW),
                {"text": "to be or not to be\nthat is the question\nwhether tis nobler"},
                leaders=[accounts.leaders["zurich"]],
            )
            await executions.wait(started.execution)
    return started.execution


@asynccontextmanager
async def _leading(accounts: _Accounts, folder: Path) -> AsyncIterator[None]:
    config = LeaderConfig(
        journal=folder / "journal.sqlite",
        allow_http=True,
        allowed_networks=(ip_network("127.0.0.0/8"),),
    )
    leader = Leader(
        config,
        accounts.clients["zurich"],
        [_key("zurich")],
        accounts.deployment,
        accounts.leaders["zurich"],
    )
    running = asyncio.create_task(leader.run())
    try:
        await leader.ready.wait()
        yield
    finally:
        leader.stop()
        await running


# --- The explorer


async def _explore(accounts: _Accounts, folder: Path, stack: AsyncExitStack) -> str:
    """Serve an explorer of the market until the stack is closed, and return its URL."""
    reader = accounts.clients["bob"]
    identity = IndexIdentity.of(accounts.deployment)
    index = stack.enter_context(closing(open_writer(folder / "index.sqlite", identity)))
    search = stack.enter_context(closing(SearchUpdate(index)))
    writer = IndexWriter(index, accounts.deployment)
    await IndexPipeline(reader, accounts.deployment, writer, search=search).catch_up()
    source = stack.enter_context(closing(IndexSource(index.path, identity)))
    explorer = Explorer("localnet", limits=_UNLIMITED)
    explorer.open(source, ChainReader(reader, accounts.deployment))
    listener = listening_socket("127.0.0.1", 0)
    url = url_of(listener)
    await stack.enter_async_context(serve_explorer(explorer, listener))
    return url
