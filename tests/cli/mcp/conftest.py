"""Tools and workflows on a real network, a Leader, and a user whose servers run as processes."""

import json
import os
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters

from nexus_tools.contracts import Deployment
from nexus_tools.mcp_server import ExecutionCaller, WorkflowOffers, WorkflowTerms
from nexus_tools.registry import Executions, ToolFilter, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.tool import ToolFqn

MIST_PER_SUI = 1_000_000_000
DIVIDE = "xyz.example.math.divide@1"
NAP = "xyz.example.time.nap@1"


def vertex(name, tool, *entries):
    ports = [{"name": port} for port in entries]
    return {
        "name": name,
        "kind": {"variant": "off_chain", "tool_fqn": tool},
        **({"entry_ports": ports} if ports else {}),
    }


def default(name, port, data):
    return {"vertex": name, "input_port": port, "value": {"storage": "inline", "data": data}}


def output(name):
    return {"vertex": name, "output_variant": "ok", "output_port": "quotient"}


def edge(source, target, port="quotient"):
    name, to_port = target.split(".")
    return {
        "from": {"vertex": source, "output_variant": "ok", "output_port": port},
        "to": {"vertex": name, "input_port": to_port},
    }


DOCUMENTS = {
    "halves": {
        "vertices": [vertex("first", DIVIDE, "dividend"), vertex("second", DIVIDE)],
        "edges": [edge("first", "second.dividend")],
        "default_values": [default(name, "divisor", 2) for name in ("first", "second")],
        "outputs": [output("second")],
    },
    "waits": {"vertices": [vertex("nap", NAP, "duration_ms", "ending")], "edges": []},
    # Divides two quotients, or the quotient and the remainder of one division by five.
    "ways": {
        "vertices": [
            vertex("left", DIVIDE, "dividend", "divisor"),
            vertex("right", DIVIDE, "dividend"),
            vertex("alone", DIVIDE, "dividend"),
            vertex("last", DIVIDE),
        ],
        "edges": [
            edge("left", "last.dividend"),
            edge("right", "last.divisor"),
            edge("alone", "last.dividend"),
            edge("alone", "last.divisor", port="remainder"),
        ],
        "default_values": [default("right", "divisor", 1), default("alone", "divisor", 5)],
        "entry_groups": [
            {"name": "two", "vertices": ["left", "right"]},
            {"name": "one", "vertices": ["alone"]},
        ],
        "outputs": [output("last")],
    },
}


@pytest.fixture(scope="module")
def running_leader(operator):
    """The operator's Leader, which runs as long as the module lasts."""
    return operator.daemon("works", "leader", "run", "--allow-loopback")


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home, tool_server_url, operator_leader):
    """Return the owner of the tools of the examples, at 0.01 SUI each."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 20 * MIST_PER_SUI)
    terms = ("--price", "0.01", "--leader", operator_leader)
    user.json("tool", "register", "--url", tool_server_url, "--all", *terms, "--yes")
    return user


@pytest.fixture(scope="module")
def published_workflows(seller, tmp_path_factory):
    """The workflows, of which the seller is the publisher."""
    folder = tmp_path_factory.mktemp("workflows")
    for name, document in DOCUMENTS.items():
        file = folder / f"{name}.json"
        file.write_text(json.dumps(document))
        named = ("--name", f"xyz.example.{name}@1", "--description", f"Does {name}.")
        seller.json("workflow", "publish", file, *named, "--yes")


@pytest.fixture
async def registry(chain, user, published_workflows):
    """The registry, where the user signs."""
    deployment = Deployment.parse(user.settings["deployments"]["test"])
    network = Network("test", chain.url, chain.url)
    async with SuiClient(network, user.wallet.signer()) as client:
        yield ToolRegistry(client, deployment)


@pytest.fixture
def calls(registry):
    """Ways to call workflows, within a budget."""

    def open_calls(budget, warn=print):
        executions = Executions(registry.client, registry.deployment)
        return ExecutionCaller(executions, budget, warn)

    return open_calls


@pytest.fixture
async def halves(registry):
    """A workflow that divides by two, twice, as it is on offer: an execution may last an hour."""
    offers = WorkflowOffers(registry, ToolFilter(), WorkflowTerms(4_096, 3_600_000))
    return await offers.find(ToolFqn.parse("xyz.example.halves@1"))


@pytest.fixture
def user(author, seller):
    """Return a user with 20 SUI on a chain with the tools of the examples."""
    return author


@pytest.fixture
def on_stdio(user):
    """Opens a client of `mcp serve` on stdin and stdout."""

    @asynccontextmanager
    async def open_client(*arguments, mode="auto"):
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "nexus_tools", "mcp", "serve", *arguments],
            env={"PATH": os.environ["PATH"]} | user.environment,
        )
        async with Client(server, mode=mode) as client:
            yield client

    return open_client
