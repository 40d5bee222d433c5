import logging
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from grpclib.client import Channel
from pysui import GroupProtocol, NetworkType, PysuiConfiguration, client_factory

from nexus_tools.pysui import PysuiRegistry
from nexus_tools.registry import Registration
from nexus_tools.sui.keystore import KeyPair

ADD = "xyz.example.math.add@1"
SUI = 10**9


@pytest.fixture(autouse=True)
def quiet_pysui():
    """Hide the tracebacks that pysui logs for each refused call."""
    logger = logging.getLogger("pgrpc_client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


def key_of(number):
    return KeyPair.from_bytes(b"\0" + bytes([100 + number] * 32))


@pytest.fixture
def keys():
    """Return the two keys of the pysui client: the active one has SUI, the other one has none."""
    return key_of(0), key_of(1)


@pytest.fixture
def configure(tmp_path):
    """Return a function that makes a pysui configuration with keys; the first one is active."""

    def configure(url, *keys, protocol=GroupProtocol.GRPC):
        config = PysuiConfiguration.initialize_config(
            in_folder=tmp_path / str(len([*tmp_path.iterdir()])),
            init_groups=[{"name": "scratch", "make_active": True}],
        )
        profile = {"profile_name": "local", "url": url, "make_active": True}
        config.new_group(
            group_name="localnet",
            group_protocol=protocol,
            make_group_active=True,
            active_address_index=0,
            persist=False,
            profile_block=[profile | {"network_type": NetworkType.LOCAL}],
            key_block=[
                {"key_string": key.to_keystore(), "alias": f"key{index}"}
                for index, key in enumerate(keys)
            ],
        )
        return config

    return configure


@pytest.fixture
def open_client(configure):
    """Return a function that opens a pysui client, whose channel may go to another URL."""

    @asynccontextmanager
    async def open_client(url, *keys, channel_url=None):
        client = client_factory(configure(url, *keys))
        address = urlsplit(channel_url or url)
        client._channel = Channel(address.hostname, address.port)
        async with client:
            yield client

    return open_client


@pytest.fixture
async def client(open_client, chain, keys):
    """Return a pysui client whose active key has 100 SUI in two coins."""
    chain.net.fund(keys[0].address, 60 * SUI, 40 * SUI)
    async with open_client(chain.net.url, *keys) as client:
        yield client


@pytest.fixture
async def registry(client, chain):
    async with PysuiRegistry.connect(client, deployment=chain.deployment) as registry:
        yield registry


@pytest.fixture
async def own_leader(registry):
    """Return the ID of an active leader whose owner and worker is the pysui client."""
    _, leader = await registry.leaders.register("first", activate=True)
    return leader


@pytest.fixture
async def added(registry, define, own_leader):
    """Register the tool `ADD` through pysui: 500 MIST per call by `own_leader`."""
    await registry.tools.register(Registration(define(), price_mist=500, leaders=(own_leader,)))
    return await registry.tools.get(ADD)


@pytest.fixture
async def requested(registry, added):
    """Return the ID of an invocation that was requested through pysui."""
    _, invocation = await registry.invocations.request(added, {"a": 1, "b": 2})
    return invocation
