import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from benchmarks.gateway import Gateway
from nexus_tools.contracts import Deployment
from nexus_tools.sui.client import RetryPolicy, SuiClient
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.testing import LocalnetFixture

SUI = 1_000_000_000
QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)


def key(number):
    return KeyPair.from_bytes(b"\0" + bytes([number] * 32))


@dataclass(frozen=True)
class Chain:
    """A localnet with our package and two funded keys; `alice` is the admin."""

    net: LocalnetFixture
    alice: KeyPair
    bob: KeyPair
    deployment: Deployment

    @property
    def network(self):
        return self.net.network

    @property
    def administered(self):
        """The first arguments of the admin's functions of `tool_registry`."""
        deployment = self.deployment
        return deployment.package, deployment.tool_registry, deployment.admin

    def using_cap(self):
        """Return a transaction that only changes the version of an object of alice's."""
        builder = TransactionBuilder()
        cap = builder.object(self.deployment.upgrade_cap)
        builder.move_call(SUI_FRAMEWORK, "package", "version", [cap])
        return builder

    def client(self, signer=None, **options):
        return SuiClient(self.network, signer, retry_policy=QUICK, **options)


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
    """Count the calls of each procedure."""
    counter = Counter()
    original = Connection.call

    async def counting(self, name, **fields):
        counter[name.rpartition("/")[2]] += 1
        return await original(self, name, **fields)

    monkeypatch.setattr(Connection, "call", counting)
    return counter


# --- Nodes that fail


@pytest.fixture
async def gateway(chain):
    """Run a gateway before the node of the chain."""
    async with Gateway(chain.net.url).running() as gateway:
        yield gateway


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
    """Return a factory of relays before the node of a chain, with TLS if a context is given."""

    def relay_before(chain, tls=None):
        return Relay(int(chain.net.url.rsplit(":", 1)[1]), tls).running()

    return relay_before
