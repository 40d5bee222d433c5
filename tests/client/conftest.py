import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import grpc
import grpc.aio
import pytest

from nexus_tools.client import KeyPair, Network, Patience, SuiClient
from nexus_tools.client.connection import Connection
from nexus_tools.package import Deployment
from nexus_tools.pytest_plugin import LocalnetFixture
from nexus_tools.sui.rpc import load_messages

SUI = 1_000_000_000
QUICK = Patience(first_pause_s=0.001, longest_pause_s=0.01)


def key(number):
    return KeyPair.from_bytes(b"\0" + bytes([number] * 32))


@dataclass(frozen=True)
class Chain:
    """A localnet with our package on it, and two keys that have SUI; `alice` is the admin."""

    net: LocalnetFixture
    alice: KeyPair
    bob: KeyPair
    deployment: Deployment

    @property
    def network(self):
        return self.net.network

    @property
    def administered(self):
        """What the admin's functions of `tool_registry` begin with."""
        deployment = self.deployment
        return deployment.package, deployment.tool_registry, deployment.admin_cap

    def client(self, signer=None, **options):
        return SuiClient(self.network, signer, patience=QUICK, **options)


@pytest.fixture(scope="session")
def started(session_localnet, deploy):
    alice, bob = key(1), key(2)
    session_localnet.fund(bob.address, 1_000 * SUI)
    return Chain(session_localnet, alice, bob, deploy(alice))


@pytest.fixture
def chain(started, localnet):
    return started


@pytest.fixture
async def alice(chain):
    async with chain.client(chain.alice) as client:
        yield client


@pytest.fixture
async def bob(chain):
    async with chain.client(chain.bob) as client:
        yield client


@pytest.fixture
def calls(monkeypatch):
    """How often each procedure was called."""
    counter = Counter()
    original = Connection.call

    async def counting(self, name, **fields):
        counter[name.rpartition("/")[2]] += 1
        return await original(self, name, **fields)

    monkeypatch.setattr(Connection, "call", counting)
    return counter


# --- Nodes that fail


class Gateway(grpc.GenericRpcHandler):
    """Forwards what it is asked to a node, and fails as it is told."""

    def __init__(self, channel):
        self._channel = channel
        self._failures = {}
        self.requests = Counter()
        self.network = None
        self._asked = asyncio.Condition()

    def fail(self, name, status, text="so it is", *, count=1_000, late=False):
        """Fail with the next requests for a procedure; `late`, after the node has done it."""
        self._failures[name] = [(status, text, late)] * count

    def mend(self, name):
        """Fail no more."""
        self._failures.pop(name)

    async def asked(self, name, count):
        """Wait until a procedure was called so often."""
        async with self._asked:
            await self._asked.wait_for(lambda: self.requests[name] >= count)

    def service(self, details):
        procedure = load_messages().procedures[details.method]
        name = details.method.rpartition("/")[2]
        if procedure.streaming:
            forward = self._channel.unary_stream(details.method)
            return grpc.unary_stream_rpc_method_handler(partial(self._stream, name, forward))
        forward = self._channel.unary_unary(details.method)
        return grpc.unary_unary_rpc_method_handler(partial(self._call, name, forward))

    async def _call(self, name, forward, request, context):
        failure = await self._next_failure(name)
        if failure is None or failure[2]:
            try:
                response = await forward(request)
            except grpc.RpcError as error:
                await context.abort(error.code(), error.details())
        if failure is not None:
            await context.abort(*failure[:2])
        return response

    async def _stream(self, name, forward, request, context):
        failure = await self._next_failure(name)
        if failure is not None:
            await context.abort(*failure[:2])
        async for frame in forward(request):
            yield frame

    async def _next_failure(self, name):
        self.requests[name] += 1
        async with self._asked:
            self._asked.notify_all()
        left = self._failures.get(name)
        return left.pop() if left else None


@pytest.fixture
async def gateway(chain):
    """A gateway before the node of the chain; `gateway.network` is how it is reached."""
    async with grpc.aio.insecure_channel(chain.net.url.removeprefix("http://")) as channel:
        gateway = Gateway(channel)
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((gateway,))
        port = server.add_insecure_port("127.0.0.1:0")
        gateway.network = Network("localnet", f"http://127.0.0.1:{port}")
        await server.start()
        yield gateway
        await server.stop(None)


# --- Bad connections


class Relay:
    """A TCP relay before a node, whose connections can be cut."""

    def __init__(self, port, tls):
        self._target = port
        self._tls = tls
        self._server = None
        self._writers = set()
        self._tasks = set()
        self.connections = 0
        self.port = 0

    @asynccontextmanager
    async def running(self):
        await self.start(0)
        try:
            yield self
        finally:
            await self.stop()

    async def start(self, port):
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self):
        self._server.close()
        self.cut()
        await self._server.wait_closed()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self):
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _connect(self, reader, writer):
        self.connections += 1
        self._tasks.add(asyncio.current_task())
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, back}
        await asyncio.gather(self._copy(reader, back), self._copy(there, writer))

    async def _copy(self, reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


@pytest.fixture
def relay_before():
    """Makes a relay before the node of a chain, with TLS if a context is given."""

    def relay_before(chain, tls=None):
        return Relay(int(chain.net.url.rsplit(":", 1)[1]), tls).running()

    return relay_before
