"""A server that follows the chain, as operators start it."""

import asyncio
from pathlib import Path
from time import time

import httpx
import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.registry import LeaderRegistry, Registration, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Identity, SigningKey, sign_request
from nexus_tools.tool_server import UnsettledAnswers, load

DIVIDE = "xyz.example.math.divide@1"
TOOLS = f"{Path(__file__).parents[3] / 'examples' / 'tools.py'}:divide"
KEY = SigningKey.new()
UNKNOWN_LEADER = str(Address.of(0xDEAD))


@pytest.fixture(scope="module")
def leader(chain, publisher):
    """The id of a leader with `KEY`, the only one that the tool `divide` accepts, for a price."""
    key = KeyPair.new()
    chain.fund(key.address, 30 * 10**9)
    deployment = Deployment.parse(publisher.settings["deployments"]["test"])

    async def register():
        async with SuiClient(Network("test", chain.url, chain.url), key) as client:
            leaders = LeaderRegistry(client, deployment)
            _, leader = await leaders.register("lee", keys=(KEY.public_key,), activate=True)
            [definition] = load(TOOLS).definitions("https://tools.example.com")
            terms = Registration(definition, price_mist=1_000, leaders=(leader,))
            await ToolRegistry(client, deployment).register(terms)
            return str(leader)

    return asyncio.run(register())


@pytest.fixture
def operator(home, publisher):
    """Return a user who runs the server with network settings, but without a key."""
    home.configure(**publisher.settings)
    return home


def call(url, leader):
    body = b'{"dividend":7,"divisor":2}'
    headers = {
        "content-type": "application/json",
        "nexus-invocation": str(Address.of(0xA1)),
        "nexus-tool": DIVIDE,
        "nexus-deadline": "2100-01-01T00:00:00Z",
        "nexus-max-outcome-bytes": "100",
    }
    headers |= sign_request(Identity(leader, KEY), f"{url}/invoke", headers, body, time())
    response = httpx.post(f"{url}/invoke", content=body, headers=headers)
    return response.status_code, response.json()["code"]


def test_server_accepts_the_leaders_that_its_tools_accept_on_chain(operator, leader, tmp_path):
    options = ("--bind", "127.0.0.1:0", "--network", "test", "--state", tmp_path / "state")
    server = operator.daemon("divide@1", "tool", "serve", TOOLS, *options)
    url = server.line.strip().split(" at ")[1]
    # No invocation with this id was requested: the leader is accepted, and asked to come again.
    assert call(url, leader) == (503, "not_ready")
    assert call(url, UNKNOWN_LEADER) == (403, "leader_not_accepted")
    unsigned = httpx.post(f"{url}/invoke", json={"dividend": 1, "divisor": 1})
    assert unsigned.json()["code"] == "signature_missing"


def test_priced_tool_requires_signatures(operator, leader):
    options = ("--bind", "127.0.0.1:0", "--network", "test", "--signatures", "optional", "--json")
    result = operator.spawn("tool", "serve", TOOLS, *options)
    assert (result.code, result.error["code"]) == (2, "signatures_needed")
    assert DIVIDE in result.error["message"]
    assert "--signatures required" in result.error["hint"]


def test_network_option_requires_the_package(operator):
    operator.configure(**operator.settings | {"deployments": {}})
    options = ("--bind", "127.0.0.1:0", "--network", "test", "--json")
    result = operator.spawn("tool", "serve", TOOLS, *options)
    assert (result.code, result.error["code"]) == (3, "package_not_published")


@pytest.mark.parametrize("by", ["id", "name"])
def test_forgive_option_resets_unsettled_answers_of_a_leader(operator, leader, tmp_path, by):
    answers = UnsettledAnswers(tmp_path / "state")
    for invocation in ("one", "two"):
        answers.record_call(leader, invocation, "digest", time())
        answers.record_answer(leader, invocation, has_answer=True)
        answers.mark_unpaid(invocation, "unreachable")
    named = leader if by == "id" else "lee"
    options = ("--network", "test", "--state", tmp_path / "state", "--forgive-leader", named)
    bind = ("--bind", "127.0.0.1:0")
    server = operator.daemon("unsettled answers of", "tool", "serve", TOOLS, *bind, *options)
    assert f"unsettled answers of {leader} was reset from 2 to 0" in server.line
    assert answers.forgive(leader) == 0


def test_forgive_option_reports_a_leader_without_unsettled_answers(operator, leader):
    options = ("--bind", "127.0.0.1:0", "--network", "test", "--forgive-leader", "lee")
    server = operator.daemon("has no unsettled answers", "tool", "serve", TOOLS, *options)
    assert server.line.strip() == f"{leader} has no unsettled answers"


def test_forgive_option_rejects_unknown_leader(operator, leader):
    options = ("--bind", "127.0.0.1:0", "--network", "test", "--forgive-leader", "lea", "--json")
    result = operator.spawn("tool", "serve", TOOLS, *options)
    assert (result.code, result.error["code"]) == (3, "leader_unknown")


CHANGED = f"""
from nexus_tools.tool_server import Variant, tool

class Ratio(Variant, name="ok"):
    ratio: float

@tool("{DIVIDE}")
async def divide(dividend: float, divisor: float) -> Ratio:
    return Ratio(ratio=dividend / divisor)
"""


@pytest.fixture
def changed_tools(tmp_path):
    """A file whose tool has other schemas than its registered version."""
    file = tmp_path / "changed.py"
    file.write_text(CHANGED)
    return file


def test_serve_warns_of_schemas_that_differ_from_the_chain(operator, leader, changed_tools):
    options = ("--bind", "127.0.0.1:0", "--network", "test")
    server = operator.daemon("has other schemas", "tool", "serve", changed_tools, *options)
    assert DIVIDE in server.line
    assert "register the next version" in server.line


def test_validate_fails_for_schemas_that_differ_from_the_chain(operator, leader, changed_tools):
    result = operator.run("tool", "validate", changed_tools, "--json")
    assert (result.code, result.error["code"]) == (7, "tool_validation_failed")
    [failed] = result.error["details"]["checks"]
    assert failed["name"] == "registered schemas"


def test_validate_compares_a_url_with_the_chain(operator, leader, tool_server_url):
    document = operator.json("tool", "validate", f"{tool_server_url}/{DIVIDE}")
    checks = {check["name"]: check["status"] for check in document["checks"]}
    assert checks["registered schemas"] == "passed"
