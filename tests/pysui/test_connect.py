"""The registry of a pysui client is on the chain to which the client is connected."""

from types import SimpleNamespace

import pytest
from grpclib.client import Channel
from msgspec.structs import replace
from pysui import GroupProtocol, client_factory

from nexus_tools.errors import NexusError, NotFoundError, UnreachableError, UsageError
from nexus_tools.pysui import PysuiRegistry
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.localnet import Localnet


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Create a user with an empty home directory."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name.lower()))


async def connect(client, **options):
    async with PysuiRegistry.connect(client, **options) as registry:
        return registry.deployment


async def refusal(client, **options):
    with pytest.raises(NexusError) as caught:
        await connect(client, **options)
    return caught.value


@pytest.mark.usefixtures("home")
async def test_deployment_is_found_by_the_chain_of_the_client(client, chain):
    """pysui calls the network `local`, this machine `mine`."""
    settings = Settings.load()
    settings.remember(chain.deployment, "mine")
    assert await connect(client) == chain.deployment
    settings.remember(replace(chain.deployment, chain_id="another"), "local")
    assert await connect(client) == chain.deployment


@pytest.mark.usefixtures("home")
async def test_deployment_of_the_same_network_name_is_preferred(client, chain):
    settings = Settings.load()
    settings.remember(replace(chain.deployment, upgrade_cap=None), "mine")
    settings.remember(chain.deployment, "local")
    assert await connect(client) == chain.deployment


@pytest.mark.usefixtures("home")
async def test_connect_fails_when_no_deployment_is_known(client):
    error = await refusal(client)
    assert isinstance(error, NotFoundError)
    assert error.code == "package_not_published"


@pytest.mark.usefixtures("home")
async def test_connect_fails_when_several_deployments_are_known(client, chain):
    settings = Settings.load()
    settings.remember(chain.deployment, "mine")
    settings.remember(replace(chain.deployment, upgrade_cap=None), "yours")
    assert (await refusal(client)).code == "package_not_published"


async def test_connect_fails_for_a_deployment_of_another_chain(client, chain):
    error = await refusal(client, deployment=replace(chain.deployment, chain_id="another"))
    assert isinstance(error, UnreachableError)
    assert error.code == "wrong_chain"
    assert error.details == {"found": chain.deployment.chain_id, "expected": "another"}


async def test_connect_fails_when_the_channel_leads_to_another_network(open_client, chain, keys):
    async with Localnet() as other, open_client(other.url, *keys, channel_url=chain.net.url) as it:
        error = await refusal(it, deployment=chain.deployment)
    assert error.code == "wrong_chain"
    assert error.details["expected"] == chain.deployment.chain_id


async def test_connect_fails_when_the_node_is_down(configure, chain, keys):
    async with Localnet() as stopped:
        client = client_factory(configure(stopped.url, *keys))
        host, _, port = stopped.url.removeprefix("http://").partition(":")
    client._channel = Channel(host, int(port))
    error = await refusal(client, deployment=chain.deployment)
    assert isinstance(error, UnreachableError)
    assert error.code == "node_unreachable"


async def test_connect_fails_for_graphql(configure, chain, keys):
    """The GraphQL client of pysui cannot be made here: it reads the schema of a node."""
    config = configure(chain.net.url, *keys, protocol=GroupProtocol.GRAPHQL)
    client = SimpleNamespace(config=config, execute=None, transaction=None)
    error = await refusal(client, deployment=chain.deployment)
    assert isinstance(error, UsageError)
    assert error.code == "network_not_grpc"


async def test_connect_fails_for_other_values(client):
    assert (await refusal("testnet")).code == "argument_invalid"
    assert (await refusal(client.config)).code == "argument_invalid"
