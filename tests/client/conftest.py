import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from nexus_tools.client import KeyPair, Network, Patience, SuiClient
from nexus_tools.localnet import ThreadedLocalnet
from nexus_tools.registry import Deployment, load_package, publish
from nexus_tools.sui.builder import TransactionBuilder

SUI = 1_000_000_000
QUICK = Patience(first_pause_s=0.001, longest_pause_s=0.01)


def key(number):
    return KeyPair.from_bytes(b"\0" + bytes([number] * 32))


@dataclass(frozen=True)
class Chain:
    """A localnet with our package on it, and two keys that have SUI; `alice` is the admin."""

    net: ThreadedLocalnet
    network: Network
    alice: KeyPair
    bob: KeyPair
    deployment: Deployment
    snapshot: Any

    def client(self, signer=None, **options):
        return SuiClient(self.network, signer, patience=QUICK, **options)


async def publish_package(network, admin):
    async with SuiClient(network, admin) as client:
        builder = TransactionBuilder()
        publish(builder, load_package(), client.address)
        return Deployment.of(await client.execute(builder), await client.chain_id())


@pytest.fixture(scope="session")
def started():
    with ThreadedLocalnet() as net:
        network = Network("localnet", net.url, net.url)
        alice, bob = key(1), key(2)
        for person in (alice, bob):
            net.fund(person.address, 1_000 * SUI)
        deployment = asyncio.run(publish_package(network, alice))
        yield Chain(net, network, alice, bob, deployment, net.snapshot())


@pytest.fixture
def chain(started):
    yield started
    started.net.revert(started.snapshot)


@pytest.fixture
async def alice(chain):
    async with chain.client(chain.alice) as client:
        yield client


@pytest.fixture
async def bob(chain):
    async with chain.client(chain.bob) as client:
        yield client
