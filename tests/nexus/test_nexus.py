from base64 import b64encode

import pytest
from pysui import GroupProtocol, NetworkType, PysuiConfiguration

from nexus_tools import KeyPair, Nexus, domain_proof
from nexus_tools.client import Cursor, Network
from nexus_tools.domain_proof import ProofState
from nexus_tools.errors import NexusError, NotFoundError, UsageError, ValidationError
from nexus_tools.package.move.tool import ToolRegistered
from nexus_tools.settings import Settings
from nexus_tools.tool import DomainOwners, RegistryOwners
from nexus_tools.toolkit import Variant, tool

URL = "https://tools.example.com/double"
DOUBLE = "xyz.example.math.double@1"


class Number(Variant, name="ok"):
    value: int


@tool(DOUBLE)
async def double(number: int) -> Number:
    """Doubles a number."""
    return Number(value=2 * number)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user with files of their own, none of which exists yet."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("SUI_CONFIG_DIR", raising=False)
    return tmp_path


@pytest.fixture
def key():
    return KeyPair.new()


@pytest.fixture
async def nexus(localnet, key, home):
    async with Nexus.publish(localnet.network, key) as nexus:
        yield nexus


async def test_a_deployment_is_found_again_by_the_name_of_its_network(localnet, key, home):
    settings = Settings.load()
    settings.networks["mine"] = {"url": localnet.url, "faucet_url": localnet.url}
    settings.save()
    async with Nexus.publish("mine", key) as published:
        await published.tools.register(double.definition(URL))
    async with Nexus.at("mine") as found:
        assert found.deployment == published.deployment
        assert (await found.tools.get(DOUBLE)).definition.url == URL


async def test_a_domain_proves_who_owns_a_tool(nexus, key, internet, monkeypatch):
    monkeypatch.setattr(domain_proof, "asking_domains", internet.asking)
    await nexus.tools.register(double.definition(URL))
    unknown = await nexus.proof(DOUBLE)
    assert (unknown.state, unknown.host) == (ProofState.NOT_PROVED, None)
    place = nexus.deployment.chain_id, str(nexus.deployment.tool_registry)
    owners = DomainOwners((RegistryOwners(*place, (str(key.address),)),))
    internet.publish("math.example.xyz", owners.text().encode())
    assert (await nexus.proof(DOUBLE)).state is ProofState.PROVED
    internet.publish("math.example.xyz", DomainOwners(()).text().encode())
    assert (await nexus.proof(await nexus.tools.get(DOUBLE))).state is ProofState.PROVED
    assert (await nexus.proof(DOUBLE, fresh=True)).is_denied
    assert len(internet.asked) == 2  # in between its word was kept


async def test_a_network_without_a_deployment_says_what_to_do(localnet, home):
    with pytest.raises(NotFoundError) as caught:
        async with Nexus.at(Network("elsewhere", localnet.url)):
            pass
    assert caught.value.code == "package_not_published"
    assert "package publish" in caught.value.hint


async def test_who_has_no_key_reads_and_cannot_sign(localnet, nexus):
    async with Nexus.at(localnet, deployment=nexus.deployment) as reader:
        assert await reader.tools.list() == ()
        with pytest.raises(NexusError) as caught:
            await reader.tools.register(double.definition(URL))
    assert caught.value.exit_code > 1


async def test_a_key_is_found_by_its_alias(localnet, nexus, key):
    wallet = Settings.load().open_wallet()
    wallet.add(key, "author")
    async with Nexus.at(localnet, "author", deployment=nexus.deployment) as mine:
        assert mine.client.address == key.address


async def test_publishing_needs_a_key(localnet, home):
    with pytest.raises(UsageError) as caught:
        async with Nexus.publish(localnet):
            pass
    assert caught.value.code == "key_missing"


async def test_inputs_that_do_not_fit_are_not_paid_for(nexus, key):
    await nexus.tools.register(double.definition(URL))
    before = await nexus.client.balance(key.address)
    with pytest.raises(ValidationError) as caught:
        await nexus.invoke(DOUBLE, {"number": "seven"})
    assert caught.value.code == "input_invalid"
    assert await nexus.client.balance(key.address) == before


async def test_a_leader_needs_a_key_where_no_faucet_gives_for_a_new_one(localnet, nexus, key):
    network = Network("own", localnet.url)
    async with Nexus.at(network, key, deployment=nexus.deployment) as poor:
        with pytest.raises(UsageError) as caught:
            async with poor.leader("lee"):
                pass
    assert caught.value.code == "key_missing"


async def test_a_leader_of_that_name_is_taken_up_again(nexus, localnet):
    leader_key = KeyPair.new()
    localnet.fund(leader_key.address, 20_000_000_000)
    for _ in range(2):
        async with nexus.leader("lee", leader_key, allow_loopback=True):
            (cap,) = await nexus.leaders.caps(leader_key.address)
    assert (await nexus.leaders.get(cap)).record.name == "lee"


async def active_leaders(nexus):
    return len((await nexus.leaders.state()).active)


async def test_a_leader_that_is_at_work_no_more_is_responsible_for_nothing(nexus):
    async with nexus.leader("lee", allow_loopback=True):
        assert await active_leaders(nexus) == 1
    assert await active_leaders(nexus) == 0


async def test_a_leader_is_deactivated_when_the_block_breaks(nexus):
    with pytest.raises(RuntimeError):
        async with nexus.leader("lee", allow_loopback=True):
            raise RuntimeError
    assert await active_leaders(nexus) == 0


async def test_a_leader_that_was_active_before_stays_active(nexus, localnet):
    leader_key = KeyPair.new()
    localnet.fund(leader_key.address, 20_000_000_000)
    async with Nexus.at(localnet, leader_key, deployment=nexus.deployment) as leading:
        _, cap = await leading.leaders.register("lee", activate=True)
    async with nexus.leader("lee", leader_key, allow_loopback=True):
        pass
    assert (await nexus.leaders.get(cap)).active


async def test_what_keeps_a_leader_from_starting_is_raised(nexus, localnet, tmp_path):
    leader_key = KeyPair.new()
    localnet.fund(leader_key.address, 20_000_000_000)
    journal = tmp_path / "journal"
    journal.write_bytes(b"this is no journal" * 1_000)
    with pytest.raises(NexusError) as caught:
        async with nexus.leader("lee", leader_key, journal):
            pass
    assert caught.value.code.startswith("journal_")


async def test_events_of_other_kinds_are_left_out(nexus):
    await nexus.tools.register(double.definition(URL))
    await nexus.tools.update(DOUBLE, price_mist=5)
    events = nexus.events(ToolRegistered, after=Cursor.beginning(), timestamps=True)
    happened = await anext(events)
    await events.aclose()
    assert happened.event.fqn == DOUBLE
    assert happened.timestamp_ms is not None


async def test_invocations_are_listed_by_who_requested_them(nexus, localnet):
    await nexus.tools.register(double.definition(URL))
    leader_key, other = KeyPair.new(), KeyPair.new()
    for each in (leader_key, other):
        localnet.fund(each.address, 20_000_000_000)
    async with Nexus.at(localnet, leader_key, deployment=nexus.deployment) as leading:
        await leading.leaders.register("lee", activate=True)
    _, mine = await nexus.invocations.request(await nexus.tools.get(DOUBLE), {"number": 1})
    assert [each.id for each in await nexus.invocations.mine()] == [mine]
    assert await nexus.invocations.mine(other.address) == ()


async def test_a_pysui_configuration_brings_network_and_key(localnet, nexus, home):
    other = KeyPair.new()
    config = PysuiConfiguration.initialize_config(
        in_folder=home, init_groups=[{"name": "empty", "make_active": True}]
    )
    profile = {"profile_name": "plain", "url": localnet.url, "network_type": NetworkType.LOCAL}
    config.new_group(
        group_name="calls",
        group_protocol=GroupProtocol.GRPC,
        make_group_active=True,
        active_address_index=0,
        persist=True,
        profile_block=[profile | {"make_active": True}],
        key_block=[{"key_string": b64encode(b"\0" + other.secret).decode(), "alias": "alice"}],
    )
    async with Nexus.at(config, deployment=nexus.deployment) as mine:
        assert mine.client.network.name == "plain"
        assert mine.client.address == other.address
        assert await mine.tools.list() == ()
