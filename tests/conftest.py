"""What every test shares: async tests run on asyncio; the package as its next version might be."""

import signal
import subprocess
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import settings

from nexus_tools.embedded_server import embedded, listening_socket, url_of

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache"
MOVE_PACKAGE = ROOT / "move" / "nexus_tools"


def pytest_configure():
    """Draw the same values in each run, however slow the machine is; let programs be interrupted.

    A shell has what it starts in the background ignore interrupts, and that is inherited.
    """
    settings.load_profile("ci")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="session")
def may_mount():
    """Whether the kernel gives mounts of their own to what runs a command line like the given."""

    def may_mount(as_user=list):
        command = ["sh", "-c", "unshare --mount true || exec unshare --user --mount true"]
        return subprocess.run(as_user(command), capture_output=True, check=False).returncode == 0

    return may_mount


@pytest.fixture
async def serve_app():
    """Serve an ASGI application until the test ends; gives its URL."""
    async with AsyncExitStack() as stack:

        async def serve(app):
            listener = listening_socket("127.0.0.1", 0)
            url = url_of(listener)
            await stack.enter_async_context(embedded(app, listener))
            return url

        yield serve


@pytest.fixture(scope="session")
def compiler_cache():
    """The folder in which `scripts/move build` has put the Move compiler."""
    from nexus_tools.localnet.compiler import WASM_PATH

    if not (CACHE / "sui-move-builder" / "dist" / WASM_PATH).is_file():
        pytest.skip("the Move compiler is not installed: scripts/move build fetches it")
    pytest.importorskip("wasmtime", reason="the extra `compiler` is not installed")
    return CACHE


@pytest.fixture(scope="session")
def move_builder(compiler_cache):
    """The Move compiler."""
    from nexus_tools.localnet.compiler import MoveBuilder

    return MoveBuilder(compiler_cache / "sui-move-builder" / "dist", compiler_cache / "wasmtime")


@pytest.fixture(scope="session")
def deploy(session_localnet):
    """Publishes our package with a key, which gets 1 000 SUI first; gives the deployment."""
    from nexus_tools.client import SuiClient
    from nexus_tools.package import Publisher, load_package

    async def publish(admin):
        async with SuiClient(session_localnet.network, admin) as client:
            return (await Publisher(client).publish(load_package())).deployment

    def deploy(admin):
        session_localnet.fund(admin.address, 1_000 * 10**9)
        return session_localnet.run(publish(admin))

    return deploy


def _compiled(builder, module, before, after):
    """The package with one change of the source of one module."""
    from nexus_tools.localnet.compiler import read_sources
    from nexus_tools.package import load_package
    from nexus_tools.sui.address import Address

    sources = dict(read_sources(MOVE_PACKAGE))
    path = f"sources/{module}.move"
    assert sources[path].count(before) == 1
    built = builder.build(sources | {path: sources[path].replace(before, after)})
    return replace(
        load_package(),
        modules=built.modules,
        dependencies=tuple(map(Address, built.dependencies)),
        digest=built.digest,
    )


@pytest.fixture(scope="session")
def next_package(move_builder):
    """The package with `VERSION` 2, to which both registries have to be migrated."""
    return _compiled(move_builder, "version", "VERSION: u64 = 1;", "VERSION: u64 = 2;")


@pytest.fixture(scope="session")
def fixed_package(move_builder):
    """The package with another constant somewhere, and the same `VERSION`."""
    limit = "MAX_NAME_BYTES: u64 = "
    return _compiled(move_builder, "leader_registry", f"{limit}200;", f"{limit}201;")


# --- A chain with the package

PEOPLE = ("admin", "owner", "leader", "user")


@dataclass(frozen=True)
class Chain:
    """A localnet with the package on it; each of `PEOPLE` has SUI, `admin` the admin cap."""

    net: object
    deployment: object

    def client(self, name):
        from nexus_tools.client import Patience, SuiClient

        quick = Patience(first_pause_s=0.001, longest_pause_s=0.01)
        return SuiClient(self.net.network, _key_of(name), patience=quick)


def _key_of(name):
    from nexus_tools.client import KeyPair

    return KeyPair.from_bytes(b"\0" + bytes([11 + PEOPLE.index(name)] * 32))


@pytest.fixture(scope="session")
def started(session_localnet, deploy):
    for name in PEOPLE[1:]:
        session_localnet.fund(_key_of(name).address, 1_000 * 10**9)
    return Chain(session_localnet, deploy(_key_of("admin")))


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
    from nexus_tools.tool import ToolDefinition

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


# --- What other programs keep for their users

SUI_ADDRESS = "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133"
SUI_ENTRY = (
    "AN0JMHpDum3BhrVwnkylH0/HGRHBQ/fO/8+MYOawO8j6"  # its key, as in tests/client/test_wallet
)
CLIENT_YAML = """---
keystore:
  File: {keystore}
external_keys: ~
envs:
  - alias: testnet
    rpc: "https://fullnode.testnet.sui.io:443"
    ws: ~
    basic_auth: ~
    chain_id: 4c78adac
  - alias: local
    rpc: "http://127.0.0.1:9000"
    ws: ~
    basic_auth: ~
  - alias: private
    rpc: {private}
    ws: ~
    basic_auth: ~
active_env: testnet
active_address: "{address}"
"""


@pytest.fixture
def sui_files():
    """Writes the files of a user of the Sui CLI, whose one key is `ruby`, into a home."""
    import json

    def write(home, private="https://sui.example.com"):
        folder = home / ".sui" / "sui_config"
        folder.mkdir(parents=True)
        keystore = folder / "sui.keystore"
        keystore.write_text(json.dumps([SUI_ENTRY]))
        public_key = "ACJkf+7vNjBgvUIFoWcaFfEKEjZ2WRixtfY42C8zz8Rp"
        alias = {"alias": "ruby", "public_key_base64": public_key}
        (folder / "sui.aliases").write_text(json.dumps([alias]))
        client_yaml = CLIENT_YAML.format(keystore=keystore, private=private, address=SUI_ADDRESS)
        (folder / "client.yaml").write_text(client_yaml)
        return folder

    return write
