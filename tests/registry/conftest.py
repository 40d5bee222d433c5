from dataclasses import dataclass

import pytest

from nexus_tools.client import KeyPair, Patience, SuiClient
from nexus_tools.package import Deployment
from nexus_tools.pytest_plugin import LocalnetFixture
from nexus_tools.registry import Registration, ToolRegistry
from nexus_tools.tool import ToolDefinition

# --- A chain with the package

SUI = 1_000_000_000
QUICK = Patience(first_pause_s=0.001, longest_pause_s=0.01)
NAMES = ("admin", "owner", "leader", "user")
KEYS = {
    name: KeyPair.from_bytes(b"\0" + bytes([11 + place] * 32)) for place, name in enumerate(NAMES)
}


@dataclass(frozen=True)
class Chain:
    """A localnet with the package on it; each of `KEYS` has SUI, `admin` the admin cap."""

    net: LocalnetFixture
    deployment: Deployment

    def client(self, name):
        return SuiClient(self.net.network, KEYS[name], patience=QUICK)


@pytest.fixture(scope="session")
def started(session_localnet, deploy):
    for name in NAMES[1:]:
        session_localnet.fund(KEYS[name].address, 1_000 * SUI)
    return Chain(session_localnet, deploy(KEYS["admin"]))


@pytest.fixture
def chain(started, localnet):
    return started


@pytest.fixture
async def admin(chain):
    async with chain.client("admin") as client:
        yield client


@pytest.fixture
async def owner(chain):
    async with chain.client("owner") as client:
        yield client


@pytest.fixture
async def leader(chain):
    async with chain.client("leader") as client:
        yield client


@pytest.fixture
async def user(chain):
    async with chain.client("user") as client:
        yield client


@pytest.fixture
def define():
    """Definitions of tools that differ in what a test says."""

    def define(fqn="xyz.example.math.add@1", **fields):
        document = {
            "fqn": fqn,
            "type": "offchain",
            "url": "https://tools.example.com/add",
            "description": "Adds two integers.",
            "timeout": 5_000,
            "input_schema": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
            "output_schema": {
                "type": "object",
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {
                            "ok": {
                                "type": "object",
                                "properties": {"result": {"type": "integer"}},
                                "required": ["result"],
                                "additionalProperties": False,
                            }
                        },
                        "required": ["ok"],
                        "additionalProperties": False,
                    }
                ],
            },
        }
        return ToolDefinition.parse(document | fields)

    return define


# --- Tools


@pytest.fixture
def registry(owner, chain):
    return ToolRegistry(owner, chain.deployment)


@pytest.fixture
def strangers(user, chain):
    return ToolRegistry(user, chain.deployment)


@pytest.fixture
def admins(admin, chain):
    return ToolRegistry(admin, chain.deployment)


@pytest.fixture
async def added(registry, define):
    """The tool `ADD` is registered."""
    return await registry.register(Registration(define(), price_mist=500))
