"""A network with the published package: a localnet, or the node that is configured.

With `NEXUS_TEST_RPC_URL` (and `NEXUS_TEST_FAUCET_URL`) the flows run against another Sui node. The
flows that move the clock or revert to a snapshot are skipped there.
"""

import asyncio
import os
from dataclasses import dataclass
from ipaddress import ip_network

import pytest

from nexus_tools.contracts import Deployment, Publisher
from nexus_tools.leader import Leader
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.client import SuiClient, request_sui
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import ThreadedLocalnet
from nexus_tools.sui.network import Network
from nexus_tools.sui.signature import SignatureScheme

SUI = 1_000_000_000
RPC_URL = os.environ.get("NEXUS_TEST_RPC_URL")
FAUCET_URL = os.environ.get("NEXUS_TEST_FAUCET_URL")


@dataclass(frozen=True)
class Stage:
    """A network, its accounts, and the deployment. `net` is None for an external network."""

    network: Network
    net: ThreadedLocalnet | None
    people: dict[str, KeyPair]
    deployment: Deployment

    def client(self, name):
        return SuiClient(self.network, self.people[name])


def _new_key():
    return KeyPair.from_secret(SignatureScheme.ED25519, os.urandom(32))


async def _set_the_stage(network, net):
    people = {name: _new_key() for name in ("author", "leader", "requester")}
    for key in people.values():
        if net is not None:
            net.fund(key.address, 1_000 * SUI)
        else:
            for _ in range(2):
                await request_sui(network, key.address)
    async with SuiClient(network, people["author"]) as client:
        deployment = (await Publisher(client).publish()).deployment
    return Stage(network, net, people, deployment)


@pytest.fixture(scope="session")
def stage():
    if RPC_URL:
        network = Network("remote", RPC_URL, FAUCET_URL)
        yield asyncio.run(_set_the_stage(network, None))
        return
    with ThreadedLocalnet() as net:
        network = Network("localnet", net.url, net.url)
        yield asyncio.run(_set_the_stage(network, net))


@pytest.fixture
def advance_clock(stage):
    if stage.net is None:
        pytest.skip("only the clock of a localnet can be moved")
    return stage.net.advance_clock


@pytest.fixture
async def author(stage):
    async with stage.client("author") as client:
        yield client


@pytest.fixture
async def requester(stage):
    async with stage.client("requester") as client:
        yield client


@pytest.fixture
def serve(serve_app):
    """Return a function that serves tools and returns their URL."""
    return serve_app


@pytest.fixture
async def leader_id(stage):
    """Return the ID of an active leader, which is registered if necessary."""
    async with stage.client("leader") as client:
        leaders = LeaderRegistry(client, stage.deployment)
        owned = await leaders.owned_by()
        return owned[0].id if owned else (await leaders.register("flows", activate=True))[1]


@pytest.fixture
async def leader(stage, leader_id, tmp_path):
    """Run that leader in a daemon, and return its ID."""
    settings = LeaderConfig(
        journal=tmp_path / "journal.sqlite",
        allow_http=True,
        allowed_networks=(ip_network("127.0.0.0/8"),),
    )
    async with stage.client("leader") as client:
        signers = [stage.people["leader"]]
        daemon = Leader(settings, client, signers, stage.deployment, leader_id)
        task = asyncio.create_task(daemon.run())
        ready = asyncio.create_task(daemon.ready.wait())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        yield leader_id
        daemon.stop()
        await task
