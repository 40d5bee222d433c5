"""Fixtures of all tests: asyncio as the async backend, a localnet, and changed packages."""

import gc
import json
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from itertools import chain as chained
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import settings

from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.tool import ToolDefinition

pytest_plugins = ["tests.hanging_tests"]

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache"
MOVE_PACKAGE = ROOT / "move" / "nexus_tools"


def pytest_configure():
    """Draw the same values in each run, also on a slow machine, and allow interrupts.

    A shell makes its background programs ignore interrupts, which their children inherit.
    """
    settings.load_profile("ci")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Run the pages first: each is one long test, and they should not be left to one worker."""
    items.sort(key=lambda item: item.originalname != "test_page_works_as_written")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect garbage seldom, and never visit the collected tests: a tenth of the suite's time.

    While pytest collects tests, all new objects stay, so garbage collection would find nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 10, 100)
        gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Print how many seconds the tests of each folder took, if there are several folders."""
    seconds, tests = Counter(), Counter()
    for report in chained.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            folder = Path(report.nodeid.partition("::")[0]).parts[:2]
            seconds[folder] += report.duration
            tests[folder] += report.when == "call"
    if len(seconds) > 1:
        terminalreporter.section("seconds and tests by folder")
        for folder, took in seconds.most_common():
            terminalreporter.line(f"{'/'.join(folder):32}{took:8.1f} s{tests[folder]:8}")


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="session")
def may_mount():
    """Return whether the kernel allows private mounts for a command line like the given one."""

    def may_mount(as_user=list):
        command = ["sh", "-c", "unshare --mount true || exec unshare --user --mount true"]
        return subprocess.run(as_user(command), capture_output=True, check=False).returncode == 0

    return may_mount


@pytest.fixture(scope="session")
def warm_programs():
    """Return a folder for `PATH` with a `nexus-tools` that starts quickly."""
    from documents.warm import warm_programs

    with warm_programs() as folder:
        yield folder


@pytest.fixture
async def serve_app():
    """Serve an ASGI application until the test ends; return its URL."""
    async with AsyncExitStack() as stack:

        async def serve(app):
            listener = listening_socket("127.0.0.1", 0)
            url = url_of(listener)
            await stack.enter_async_context(serve_embedded(app, listener))
            return url

        yield serve


@pytest.fixture(scope="session")
def compiler_cache():
    """Return the folder in which `scripts/move build` stores the Move compiler."""
    from nexus_tools.sui.localnet.compiler import WASM_PATH

    if not (CACHE / "sui-move-builder" / "dist" / WASM_PATH).is_file():
        pytest.skip("the Move compiler is not installed: scripts/move build fetches it")
    pytest.importorskip("wasmtime", reason="the extra `compiler` is not installed")
    return CACHE


@pytest.fixture(scope="session")
def lend_compiler(compiler_cache):
    """Return a function that adds the Move compiler to a cache folder: `lend_compiler(folder)`."""
    return _lend_compiler


@pytest.fixture(scope="session", autouse=True)
def suite_cache(tmp_path_factory):
    """Keep caches of the tests out of the user's, and reuse a compiler that exists."""
    folder = tmp_path_factory.mktemp("cache")
    _lend_compiler(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield


@pytest.fixture(scope="session")
def postgres():
    """Return a running PostgreSQL server."""
    from tests.postgres import running_server

    with running_server() as server:
        yield server


def _lend_compiler(folder):
    cache = folder / "nexus-tools"
    cache.mkdir(parents=True, exist_ok=True)
    for part in (CACHE / "sui-move-builder", CACHE / "wasmtime"):
        if part.is_dir():
            (cache / part.name).symlink_to(part)


@pytest.fixture(scope="session")
def move_builder(compiler_cache):
    """Return the Move compiler."""
    from nexus_tools.sui.localnet.compiler import MoveBuilder

    return MoveBuilder(compiler_cache / "sui-move-builder" / "dist", compiler_cache / "wasmtime")


@pytest.fixture(scope="session")
def linked(move_builder):
    """Return a function that compiles a package that depends on ours, for a deployment.

    It is compiled once; the IDs of the deployment replace a placeholder.
    """
    from nexus_tools.sui.bytecode import with_addresses
    from nexus_tools.sui.localnet.compiler import build_to_publish
    from nexus_tools.sui.types.address import Address

    stands_for_ours = Address.of(0x70015)
    published = {"nexus_tools": bytes(stands_for_ours)}
    compiled = {}

    def link(folder, deployment):
        if folder not in compiled:
            compiled[folder] = build_to_publish(move_builder, folder, published=published)
        built = compiled[folder]
        original = {stands_for_ours: deployment.original_id}
        newest = {bytes(stands_for_ours): bytes(deployment.package_id)}
        modules = [with_addresses(module, original) for module in built.modules]
        return modules, [
            Address(newest.get(dependency, dependency)) for dependency in built.dependencies
        ]

    return link


@pytest.fixture(scope="session")
def deploy(session_localnet):
    """Publish our package with a key, after funding it with 1 000 SUI; return the deployment."""
    from nexus_tools.contracts import Publisher
    from nexus_tools.sui.client import SuiClient
    from tests.retry_policies import QUICK

    async def publish(admin):
        async with SuiClient(session_localnet.network, admin, retry_policy=QUICK) as client:
            return (await Publisher(client).publish()).deployment

    def deploy(admin):
        session_localnet.fund(admin.address, 1_000 * 10**9)
        return session_localnet.run(publish(admin))

    return deploy


def _compiled(builder, module, before, after):
    """Compile the package with one change of the source of one module."""
    from nexus_tools.contracts import load_package
    from nexus_tools.sui.localnet.compiler import read_sources
    from nexus_tools.sui.types.address import Address

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
    """Return the package with `VERSION` 2, to which both registries have to be migrated."""
    return _compiled(move_builder, "version", "VERSION: u64 = 1;", "VERSION: u64 = 2;")


@pytest.fixture(scope="session")
def fixed_package(move_builder):
    """Return the package with another constant somewhere, and the same `VERSION`."""
    limit = "MAX_NAME_BYTES: u64 = "
    return _compiled(move_builder, "leader", f"{limit}200;", f"{limit}201;")


@pytest.fixture(autouse=True)
def _logs_nowhere_again():
    """Reset logging after each test, so that no event of a later test reaches stdout."""
    yield
    structlog = sys.modules.get("structlog")
    if structlog is not None:
        structlog.reset_defaults()


# --- A chain with the package

PEOPLE = ("admin", "owner", "leader", "user")


@dataclass(frozen=True)
class Chain:
    """A localnet with the package; each of `PEOPLE` has SUI, and `admin` is the admin."""

    net: object
    deployment: object

    def client(self, name):
        from nexus_tools.sui.client import SuiClient
        from tests.retry_policies import QUICK

        return SuiClient(self.net.network, _key_of(name), retry_policy=QUICK)


def _key_of(name):
    from nexus_tools.sui.keystore import KeyPair

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
async def active_leader(leader, chain):
    """Return the ID of an active leader, `first`: `leader` owns it and is its worker."""
    from nexus_tools.registry import LeaderRegistry

    _, found = await LeaderRegistry(leader, chain.deployment).register("first", activate=True)
    return found


@pytest.fixture
async def priced_tool(owner, chain, define, active_leader):
    """Return the tool `xyz.example.math.add@1` of `owner`: 500 MIST per call by `active_leader`."""
    from nexus_tools.registry import Registration, ToolRegistry

    tools = ToolRegistry(owner, chain.deployment)
    await tools.register(Registration(define(), price_mist=500, leaders=(active_leader,)))
    return await tools.get("xyz.example.math.add@1")


@pytest.fixture(scope="session")
def define():
    """Return a factory of tool definitions."""

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


# --- Files of other programs

SUI_ADDRESS = "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133"
SUI_ENTRY = (
    "AN0JMHpDum3BhrVwnkylH0/HGRHBQ/fO/8+MYOawO8j6"  # its key, as in tests/sui/client/test_wallet
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
    """Return a function that writes the files of a Sui CLI user with the key `ruby` into a home."""

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


# --- Hosts on the internet


class Internet:
    """Hosts by name on one loopback port, over TLS with their own CA.

    `pages` are whole responses as bytes. `addresses` are those of other hosts, or the error of the
    resolver. `asked` lists the queried hosts. While `is_silent`, connections are only accepted.
    """

    def __init__(self, folder):
        self.folder = folder
        self.pages = {}
        self.addresses = {}
        self.asked = []
        self.is_silent = False
        self.ended = threading.Event()
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), None)
        self._server.daemon_threads = True
        self._server.finish_request = self._respond
        self._server.handle_error = lambda *_: None
        self.port = self._server.server_address[1]

    def publish(self, host, document, status=200, headers=()):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers]
        self.pages[host] = "\r\n".join(lines).encode() + b"\r\nConnection: close\r\n\r\n" + body

    @asynccontextmanager
    async def asking(self, folder=None, **options):
        """Replace `open_domain_prover`."""
        from nexus_tools.http import AddressGuard
        from nexus_tools.http.guarded_client import guarded_client
        from nexus_tools.registry.domain_proof import DomainProver

        guard = AddressGuard(networks=(ip_network("127.0.0.0/8"),))
        tls = ssl.create_default_context(cafile=self.folder / "certificate.pem")
        async with guarded_client(guard, self._resolve, max_connections=1, tls=tls) as client:
            yield DomainProver(client, folder, port=self.port, **options)

    async def _resolve(self, host):
        if host not in self.pages and host not in self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        found = self.addresses.get(host, "127.0.0.1")
        if isinstance(found, OSError):
            raise found
        return [found]

    def _respond(self, request, _address):
        if self.is_silent:
            self.ended.wait(20)
            return
        with self._context.wrap_socket(request, server_side=True) as stream:
            head = b""
            while b"\r\n\r\n" not in head and (more := stream.recv(4096)):
                head += more
            host = head.decode().split("Host: ")[1].split("\r\n")[0].split(":")[0]
            self.asked.append(host)
            stream.sendall(self.pages[host])

    def start(self, *certified):
        """Start serving, with a certificate for hosts."""
        self._context = Certificate(self.folder, *certified).server_context()
        often = {"poll_interval": 0.01}
        threading.Thread(target=self._server.serve_forever, kwargs=often, daemon=True).start()

    def stop(self):
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


class Certificate:
    """A self-signed certificate for some hosts or addresses, in a folder."""

    def __init__(self, folder, *hosts):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localnet")])
        now = datetime.now(UTC)
        names = x509.SubjectAlternativeName(list(map(_name_of, hosts)))
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(names, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        self.certificate = folder / "certificate.pem"
        self.certificate.write_bytes(certificate.public_bytes(pem))
        self.key = folder / "key.pem"
        self.key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))

    def server_context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def client_context(self):
        return ssl.create_default_context(cafile=self.certificate)


def _name_of(host):
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@pytest.fixture
def make_certificate(tmp_path):
    return lambda *hosts: Certificate(tmp_path, *hosts)


@pytest.fixture
def internet(tmp_path_factory):
    """Provide hosts below `taluslabs.xyz` and `example.xyz`, which publish nothing yet."""
    found = Internet(tmp_path_factory.mktemp("internet"))
    found.start("taluslabs.xyz", "llm.taluslabs.xyz", "example.xyz", "math.example.xyz")
    yield found
    found.stop()
