"""Fixtures for tests of the Leader: good and bad tool servers, clients, and whole Leaders."""

import asyncio
import logging
import secrets
import shutil
import socket
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_network
from pathlib import Path

import pytest
import structlog
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.node import node
from nexus_tools.contracts import (
    Publisher,
    event_filter,
    make_ports,
    parse_event,
    ports_of,
)
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.contracts.move_bindings.workflows import execution as moves
from nexus_tools.http.address_guard import AddressGuard
from nexus_tools.http.guarded_client import SystemResolver, guarded_client
from nexus_tools.leader import Leader
from nexus_tools.leader.chain.assignment import assignment
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.clock import ChainClock
from nexus_tools.leader.closing.closer import Closer
from nexus_tools.leader.closing.closing_batch import closing_of
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.dispatch.tool_call import ToolCall
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import (
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    Workflows,
    add_request,
    quote_mist,
)
from nexus_tools.sui.client import Cursor, EventRecord, RetryPolicy, SuiClient, follow_events
from nexus_tools.sui.keystore import SIGNING_TIMEOUT_S, KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.support.private_file import write_private
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.testing import LocalnetFixture
from nexus_tools.tool import (
    InterfaceValidator,
    KnownKeys,
    SigningKey,
    ToolDefinition,
    canonical_json,
)
from nexus_tools.tool_server import (
    MemoryNonceStore,
    SignaturePolicy,
    ToolServer,
    Variant,
    serving,
    tool,
)
from nexus_tools.workflow import DEFAULT_GROUP
from tests.retry_policies import QUICK

TIMEOUT_S = 60
STEP_EVENTS = (
    InvocationRequested,
    moves.ExecutionStarted,
    moves.ExecutionAdvanced,
    moves.RunRefused,
    moves.RegionGathered,
    moves.ExecutionUnderfunded,
    moves.ExecutionEnded,
)
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


class Sum(Variant, name="ok"):
    result: int


@tool("xyz.example.math.add@1")
async def add(a: int, b: int) -> Sum:
    """Adds two integers."""
    return Sum(result=a + b)


@pytest.fixture
def add_tool():
    return add


@pytest.fixture
def config(tmp_path):
    return LeaderConfig(
        journal=tmp_path / "journal.sqlite",
        allow_http=True,
        allowed_networks=LOOPBACK,
        retry_delay_ms=1,
        max_retry_delay_ms=2,
        check_meta=False,
    )


@pytest.fixture
async def serve_tools(serve_app):
    """Serve toolkit tools, and return their root URL."""

    async def serve(*tools):
        return await serve_app(ToolServer(tools))

    return serve


@dataclass
class Blobs:
    """The values of a storage by key, and its `url` with `{key}`."""

    url: str
    values: dict[str, bytes]


@pytest.fixture
async def blobs(serve_app):
    """Serve a storage behind a URL."""
    storage = Blobs("", {})

    async def get(request):
        text = storage.values.get(request.path_params["key"])
        return Response(status_code=404) if text is None else Response(text)

    root = await serve_app(Starlette(routes=[Route("/v1/blobs/{key}", get)]))
    storage.url = f"{root}/v1/blobs/{{key}}"
    return storage


@dataclass
class RawServer:
    """A raw server with the heads and bodies of the requests that it received."""

    url: str
    requests: list


async def _read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return head.decode(), await reader.readexactly(length)


@pytest.fixture
async def serve_bytes():
    """Return a factory of servers that read one request per connection and call `respond`."""
    async with AsyncExitStack() as stack:

        async def serve(respond):
            raw_server = RawServer("", [])
            connections = set()

            async def handle(reader, writer):
                connections.add(asyncio.current_task())
                try:
                    raw_server.requests.append(await _read_request(reader))
                    await respond(writer, len(raw_server.requests))
                    await writer.drain()
                except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                    pass
                finally:
                    writer.close()

            server = await asyncio.start_server(handle, "127.0.0.1", 0)

            async def stop():
                server.close()
                for task in connections:
                    task.cancel()
                await asyncio.gather(*connections, return_exceptions=True)

            stack.push_async_callback(stop)
            raw_server.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return raw_server

        yield serve


@pytest.fixture
def respond():
    """Return a factory of raw handlers that send a status, headers and a body."""

    def make(status=200, body=b"", headers=()):
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
        head = "\r\n".join([*lines, *headers]) + "\r\n\r\n"

        async def respond(writer, _number):
            writer.write(head.encode() + body)

        return respond

    return make


@pytest.fixture
async def http_client():
    resolver = SystemResolver()
    guard = AddressGuard(networks=LOOPBACK, http=True)
    async with guarded_client(guard, resolver, max_connections=1_000) as client:
        yield client
    resolver.close()


@pytest.fixture
def answer_size():
    """Return the size function of the tests: variant and canonical ports."""
    return lambda answer: len(answer.variant) + len(canonical_json(answer.ports))


@pytest.fixture
def make_invoker(config, http_client, answer_size):
    def make(**changes):
        changed = config.model_copy(update=changes)
        return Invoker(changed, http_client, answer_size, LeaderMetrics())

    return make


@pytest.fixture
def make_call():
    """Return a factory of tool calls of `add` at a URL, with a window of 30 s."""
    definition = add.definition("https://tools.example/add")
    validator = InterfaceValidator(definition)

    def make(url, *, inputs=None, window_s=30.0, **changes):
        call = ToolCall(
            invocation=Address.of(0xA1),
            tool=Address.of(0x7001),
            fqn="xyz.example.math.add@1",
            url=url,
            body=canonical_json({"a": 1, "b": 2} if inputs is None else inputs),
            timeout_ms=10_000,
            deadline=asyncio.get_running_loop().time() + window_s,
            max_outcome_bytes=1_000,
            keys=(),
            signers=(),
            validator=validator,
        )
        return replace(call, **changes)

    return make


@pytest.fixture
def add_definition():
    """Return a factory of the on-chain definition of `add` at a URL."""

    def make(url="https://tools.example/add", **changes):
        definition: ToolDefinition = add.definition(url)
        return replace(definition, **changes)

    return make


@pytest.fixture
def logged():
    """Return the list of log lines, which grows as they are written."""
    structlog.configure()
    with structlog.testing.capture_logs() as lines:
        yield lines
    structlog.reset_defaults()


class Log:
    """The log lines in order, with a way to wait for a new one."""

    def __init__(self):
        self.entries = []
        self._grown = asyncio.Event()

    def __call__(self, _logger, method, entry):
        self.entries.append(entry | {"level": method})
        self._grown.set()
        raise structlog.DropEvent

    async def wait_for(self, event, count=1):
        async with asyncio.timeout(TIMEOUT_S):
            while len(self.named(event)) < count:
                self._grown.clear()
                await self._grown.wait()
        return self.named(event)[count - 1]

    async def wait_for_each(self, event, key, values):
        """Wait until lines of an event have had exactly these values of a key."""
        expected = set(values)
        async with asyncio.timeout(TIMEOUT_S):
            while {entry[key] for entry in self.named(event)} != expected:
                self._grown.clear()
                await self._grown.wait()

    def named(self, event):
        return [entry for entry in self.entries if entry["event"] == event]

    @property
    def readiness(self):
        """The log lines about readiness."""
        return [e["event"] for e in self.entries if e["event"] in ("not_ready", "ready")]

    @property
    def warnings(self):
        return [e["event"] for e in self.entries if e["level"] in ("warning", "error")]


@pytest.fixture
async def log():
    log_lines = Log()
    structlog.configure(
        processors=[log_lines], wrapper_class=structlog.make_filtering_bound_logger(logging.INFO)
    )
    yield log_lines
    structlog.reset_defaults()


@pytest.fixture
def unused_tcp_port():
    """Return a loopback port that is bound but does not listen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


# --- A chain with the package on it


def new_key():
    return KeyPair.from_secret(SignatureScheme.ED25519, secrets.token_bytes(32))


@dataclass
class LeaderIdentity:
    """A registered leader with the key of its owner, which is also its worker."""

    id: Address
    key: KeyPair
    name: str


class World:
    """A chain with leaders, and an account that registers tools and requests invocations."""

    def __init__(self, localnet, deployment, client, folder, key, known=()):
        self.localnet = localnet
        self.deployment = deployment
        self.client = client
        self.tools = ToolRegistry(client, deployment)
        self.invocations = Invocations(client, deployment)
        self.folder = folder
        self.key = key
        self.leaders = LeaderRegistry(client, deployment)
        self.known = list(known)

    async def register_tool(self, definition, **terms):
        await self.tools.register(Registration(definition, **terms))
        return await self.tools.get(definition.fqn)

    async def request(self, tool, *inputs, leaders=None, max_outcome_bytes=1_000):
        """Request one invocation per input, JSON or `Ports`, in one transaction; return the IDs.

        They name the leaders of this world in the order of their registration, unless others are
        given.
        """
        settings = await self.leaders.settings()
        price = await self.client.gas_price()
        named = leaders or [identity.id for identity in self.known[:2]]
        builder = TransactionBuilder()
        for value in inputs:
            ports = value if isinstance(value, Ports) else ports_of(value)
            add_request(
                builder,
                self.deployment,
                settings,
                tool,
                named,
                inputs=ports,
                max_outcome_bytes=max_outcome_bytes,
                payment_mist=quote_mist(settings, tool, ports.size(), max_outcome_bytes, price),
            )
        sent = await self.invocations.send(builder)
        events = [parse_event(self.deployment, event) for event in sent.events]
        return [event.invocation for event in events if isinstance(event, InvocationRequested)]

    async def begin(self, workflow, inputs=None, *, leaders=None, funds_mist=10**9, **terms):
        """Start an execution with the default group in one transaction, and return its ID.

        `inputs` are values by vertex and port. No run is requested, because the leader does that.
        """
        settings = await self.leaders.settings()
        named = leaders or [identity.id for identity in self.known[:2]]
        builder, package = TransactionBuilder(), self.deployment.workflows
        prices = [terms.get("max_price_mist", 10**6)] * len(workflow.tools)
        execution = moves.start(
            *(builder, package, self.deployment.leader_registry, settings.revision),
            *(workflow.id, list(workflow.plan.groups).index(DEFAULT_GROUP), named[0], prices),
            terms.get("max_timeout_ms", 90 * 86_400_000),
            *(terms.get("max_outcome_bytes", 1_000), terms.get("max_steps", 1_000)),
            terms.get("duration_ms", 86_400_000),
            builder.split_coins(builder.gas, [funds_mist])[0],
        )
        if len(named) > 1:
            moves.set_backup(builder, package, execution, named[1])
        numbers = list(workflow.plan.vertices)
        for vertex, values in (inputs or {}).items():
            ports = make_ports(builder, self.deployment.package, ports_of(values))
            moves.add_entry_values(builder, package, execution, numbers.index(vertex), ports)
        moves.share(builder, package, execution)
        events = self.parsed(await self.invocations.send(builder))
        return next(
            event.execution for event in events if isinstance(event, moves.ExecutionStarted)
        )

    def parsed(self, sent):
        """Return the events of a transaction."""
        return [parse_event(self.deployment, event) for event in sent.events]

    async def publish(self, document):
        """Publish a document under a unique name, and return the workflow."""
        fqn = f"xyz.example.flow{secrets.token_hex(4)}@1"
        workflows = Workflows(self.client, self.deployment)
        await workflows.publish(document, fqn)
        return await workflows.get(fqn)

    async def events_of(self, execution, *, until=moves.ExecutionEnded):
        """Return the events of an execution, up to the first one of a kind."""
        kinds = event_filter(self.deployment, *STEP_EVENTS)
        events = []
        async with asyncio.timeout(60):
            async for item in follow_events(self.client, kinds, Cursor.beginning()):
                if isinstance(item, EventRecord):
                    event = parse_event(self.deployment, item.event)
                    attempt = getattr(event, "attempt", None)
                    if execution in (
                        getattr(event, "execution", None),
                        attempt and attempt.execution,
                    ):
                        events.append(event)
                        if isinstance(event, until):
                            return events
        raise AssertionError("events end")

    async def ended(self, execution):
        """Wait for the end of an execution, and return its status."""
        return (await self.events_of(execution))[-1]

    async def closed(self, *ids):
        """Return the invocations as soon as all of them are closed."""
        async with asyncio.timeout(60):
            return [await self.invocations.wait_until_closed(object_id) for object_id in ids]

    async def closings(self, count):
        """Return how often each of `count` invocations was closed, according to events."""
        counts = Counter()
        kinds = event_filter(self.deployment, InvocationSettled, InvocationFailed)
        async for item in follow_events(self.client, kinds, Cursor.beginning()):
            if isinstance(item, EventRecord):
                counts[parse_event(self.deployment, item.event).invocation] += 1
            if counts.total() >= count:
                return counts
        raise AssertionError("events end")

    @asynccontextmanager
    async def again(self):
        """Yield the same world with a client that does not know the rolled-back chain."""
        async with self.client_of(self.key) as client:
            yield World(self.localnet, self.deployment, client, self.folder, self.key, self.known)

    async def new_leader(self, name="leader", *, sui=100):
        """Register and activate a leader with its own wallet, which is also its worker."""
        key = new_key()
        self.localnet.fund(key.address, sui * 10**9)
        async with self.client_of(key) as client:
            registry = LeaderRegistry(client, self.deployment)
            _, leader = await registry.register(name, activate=True)
        self.known.append(LeaderIdentity(leader, key, name))
        return self.known[-1]

    def client_of(self, key):
        return SuiClient(self.client.network, key, retry_policy=QUICK)

    def client_at(self, url):
        return SuiClient(Network("localnet", url), retry_policy=PATIENCE)

    def config(self, identity, **changes):
        values = {
            "journal": self.folder / f"{identity.name}.sqlite",
            "allow_http": True,
            "allowed_networks": LOOPBACK,
            "retry_delay_ms": 1,
            "max_retry_delay_ms": 2,
            "error_retry_delay_ms": 10,
            "clock_interval_ms": 20,
        }
        return LeaderConfig(**{**values, **changes})

    async def new_worker(self, identity, *, sui=1):
        """Add a worker with a new key, which has only coins, to a leader."""
        key = new_key()
        if sui:
            self.localnet.fund(key.address, sui * 10**9)
        async with self.client_of(identity.key) as client:
            registry = LeaderRegistry(client, self.deployment)
            await registry.add_worker(identity.id, key.address)
        return key

    @asynccontextmanager
    async def running(self, identity, *, url=None, resolve=None, signers=None, **changes):
        """Run a leader during the context, and stop it as an operator does."""
        async with self.client_at(url or self.localnet.url) as client:
            config = self.config(identity, **changes)
            signers = signers or [identity.key]
            leader = Leader(config, client, signers, self.deployment, identity.id, resolve=resolve)
            task = asyncio.create_task(leader.run())
            ready = asyncio.create_task(leader.ready.wait())
            await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                ready.cancel()
                await task
            try:
                yield leader
            finally:
                leader.stop()
                await task


PATIENCE = RetryPolicy(attempts=2, first_delay_s=0.02, max_delay_s=0.1)


@pytest.fixture(scope="session")
def deployed(deploy):
    """Return the key that published the package, and the deployment."""
    key = new_key()
    return key, deploy(key)


@pytest.fixture
async def world(deployed, localnet, tmp_path):
    key, deployment = deployed
    async with SuiClient(localnet.network, key, retry_policy=QUICK) as client:
        yield World(localnet, deployment, client, tmp_path, key)


# --- A closer without a Leader


@dataclass
class Bench:
    """A closer of one leader with all its dependencies."""

    closer: Closer
    chain: Chain
    workers: Workers
    journal: Journal
    metrics: LeaderMetrics

    async def closing(self, invocation, outcome):
        """Return a closing whose outcome the journal has, ready to be queued."""
        value = await self.chain.client.object(invocation)
        invocation_value = self.chain.deployment.decode(value, Invocation)
        mine = assignment(requested(invocation_value), self.chain.leader)
        await self.journal.record_events([mine], {}, "c", 0)
        await self.journal.record_outcome(invocation, outcome)
        invocation_value, _ = await self.chain.invocation_and_tool(
            invocation, invocation_value.tool
        )
        return closing_of(mine, outcome, invocation_value)

    async def close(self, *closings):
        for closing in closings:
            self.closer.queue.put(closing)
        async with asyncio.timeout(TIMEOUT_S):
            return [await closing.closed for closing in closings]

    def transactions(self):
        return self.value("closing_size_count")

    def value(self, name):
        return self.metrics.registry.get_sample_value(f"nexus_leader_{name}")


def requested(invocation):
    """Return the event with which an invocation was requested."""
    return InvocationRequested(
        invocation.id,
        invocation.tool,
        invocation.fqn,
        invocation.requester,
        invocation.leaders,
        invocation.requested_at_ms,
        invocation.timeout_ms,
        invocation.expires_at_ms,
        invocation.price_mist,
        invocation.payment,
        invocation.max_outcome_bytes,
        invocation.settlement,
        invocation.tool_revision,
        invocation.attempt,
    )


@asynccontextmanager
async def new_bench(
    world,
    identity,
    *,
    run=True,
    url=None,
    signers=None,
    enough_mist=10**9,
    signing_timeout_s=SIGNING_TIMEOUT_S,
    **changes,
):
    async with world.client_at(url or world.localnet.url) as client:
        config = world.config(identity, **changes)
        chain = Chain(client, world.deployment, identity.id)
        workers = Workers(
            chain,
            signers or [identity.key],
            lambda _: enough_mist,
            signing_timeout_s=signing_timeout_s,
        )
        await workers.refresh()
        clock = ChainClock(client.now_ms, config.clock_interval_ms)
        await clock.refresh()
        journal = await Journal.open(config.journal, "identity")
        metrics = LeaderMetrics()
        closer = Closer(
            config,
            chain,
            workers=workers,
            journal=journal,
            clock=clock,
            metrics=metrics,
            accounts=ExecutionAccounts(
                world.deployment,
                identity.id,
                config.max_unpaid_gas_units,
                lambda: workers.epoch.gas_price,
            ),
        )
        task = asyncio.create_task(closer.run()) if run else None
        try:
            yield Bench(closer, chain, workers, journal, metrics)
        finally:
            if task:
                task.cancel()
            await journal.close()


@pytest.fixture
def bench_of(world):
    """Return a factory of benches, whose closers run unless `run` is false."""
    return partial(new_bench, world)


# --- A node in its own process


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Return the folder of a chain with the package, its deployment and its publisher's key."""
    folder = tmp_path_factory.mktemp("prepared")
    key = new_key()

    async def publish(network):
        async with SuiClient(network, key, retry_policy=QUICK) as client:
            return (await Publisher(client).publish()).deployment

    with node(folder) as first:
        first.start(folder / "state")
        localnet = LocalnetFixture(first.network.url, None)
        localnet.fund(key.address, 1_000 * 10**9)
        deployment = localnet.run(publish(first.network))
    return folder / "state", key, deployment


@pytest.fixture
async def apart(prepared, tmp_path):
    """Run a node in its own process, with the package, its folder and a world on it."""
    state, key, deployment = prepared
    shutil.copytree(state, tmp_path / "state")
    with node(tmp_path) as own:
        own.start(tmp_path / "state")
        async with SuiClient(own.network, key, retry_policy=PATIENCE) as client:
            localnet = LocalnetFixture(own.network.url, None)
            yield own, tmp_path / "state", World(localnet, deployment, client, tmp_path, key)


@dataclass(frozen=True)
class Signing:
    """A leader that signs its calls, its key file, and servers of signing tools."""

    world: World
    leader: LeaderIdentity
    key_file: Path
    key: SigningKey
    tool_key: SigningKey

    @asynccontextmanager
    async def serving(self, *tools):
        """Serve and register tools whose answers must be signed for the chain."""
        leaders = KnownKeys({str(self.leader.id): [self.key.public_key]})
        signatures = SignaturePolicy(leaders=leaders, nonces=MemoryNonceStore(), key=self.tool_key)
        terms = {"keys": (self.tool_key.public_key,), "requires_signed_outcome": True}
        async with serving(ToolServer(tools, signatures=signatures)) as url:
            for tool in tools:
                await self.world.register_tool(tool.definition(f"{url}/{tool.fqn}"), **terms)
            yield


@pytest.fixture
async def signing(world, tmp_path):
    leader, key = await world.new_leader(), SigningKey.new()
    async with world.client_of(leader.key) as client:
        await LeaderRegistry(client, world.deployment).add_key(leader.id, key.public_key)
    path = tmp_path / "key.pem"
    write_private(path, key.to_pem())
    return Signing(world, leader, path, key, SigningKey.new())
