import asyncio
from base64 import b64encode
from contextlib import aclosing

import pytest
from pysui import GroupProtocol, NetworkType, PysuiConfiguration

from nexus_tools import Answer, InvocationFailedError, KeyPair, Nexus, OutputInvalidError
from nexus_tools.contracts import LeaderState
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.errors import (
    NexusError,
    NotFoundError,
    NotNowError,
    UsageError,
    ValidationError,
)
from nexus_tools.registry import Registration, domain_proof
from nexus_tools.registry.domain_proof import ProofState
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.network import Network
from nexus_tools.tool import DomainOwners, FailureReason, RegistryOwners
from nexus_tools.tool_server import Variant, serving, tool

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


async def test_a_program_without_sui_is_not_led_to_the_localnet_of_the_command_line(
    localnet, nexus
):
    poor = KeyPair.new()
    async with Nexus.at(localnet, poor, deployment=nexus.deployment) as mine:
        with pytest.raises(NotNowError) as caught:
            await mine.leaders.register("lee")
    assert caught.value.code == "not_enough_sui"
    assert f"SUI or more to {poor.address}" in caught.value.hint
    assert "nexus-tools localnet" not in caught.value.hint


async def test_a_leader_needs_a_key_where_no_faucet_gives_for_a_new_one(localnet, nexus, key):
    network = Network("own", localnet.url)
    async with Nexus.at(network, key, deployment=nexus.deployment) as poor:
        with pytest.raises(UsageError) as caught:
            async with poor.leader("lee"):
                pass
    assert caught.value.code == "key_missing"


@pytest.fixture
def leader_key(localnet):
    """A key that has enough for a leader's collateral."""
    key = KeyPair.new()
    localnet.fund(key.address, 20_000_000_000)
    return key


async def states(nexus):
    return {leader.name: leader.state for leader in await nexus.leaders.list()}


async def test_a_leader_of_that_name_is_taken_up_again(nexus, leader_key):
    found = []
    for _ in range(2):
        async with nexus.leader("lee", leader_key, allow_loopback=True) as leader:
            found.append(leader.id)
    (registered,) = await nexus.leaders.owned_by(leader_key.address)
    assert found == [registered.id] * 2


async def test_a_key_may_lead_under_several_names(nexus, localnet, leader_key):
    localnet.fund(leader_key.address, 20_000_000_000)
    for name in ("lee", "lou"):
        async with nexus.leader(name, leader_key, allow_loopback=True):
            pass
    owned = await nexus.leaders.owned_by(leader_key.address)
    assert [leader.name for leader in owned] == ["lee", "lou"]


async def test_a_worker_leads_for_its_owner_who_alone_decides_when_it_is_active(
    nexus, localnet, leader_key
):
    worker = KeyPair.new()
    localnet.fund(worker.address, 1_000_000_000)
    async with Nexus.at(localnet, leader_key, deployment=nexus.deployment) as owning:
        _, place = await owning.leaders.register("lee", workers=[worker.address])
        for is_active in (False, True):
            if is_active:
                await owning.leaders.activate(place)
            async with nexus.leader("lee", worker, allow_loopback=True) as leader:
                assert leader.id == place
                assert (await nexus.leaders.get(place)).is_active is is_active
            assert (await nexus.leaders.get(place)).is_active is is_active


async def test_a_leader_that_is_at_work_no_more_is_named_by_nobody(nexus):
    async with nexus.leader("lee", allow_loopback=True):
        assert await states(nexus) == {"lee": LeaderState.ACTIVE}
    assert await states(nexus) == {"lee": LeaderState.INACTIVE}


async def test_a_leader_is_deactivated_when_the_block_breaks(nexus):
    with pytest.raises(RuntimeError):
        async with nexus.leader("lee", allow_loopback=True):
            raise RuntimeError
    assert await states(nexus) == {"lee": LeaderState.INACTIVE}


async def test_a_leader_that_was_active_before_stays_active(nexus, localnet, leader_key):
    async with Nexus.at(localnet, leader_key, deployment=nexus.deployment) as leading:
        await leading.leaders.register("lee", activate=True)
    async with nexus.leader("lee", leader_key, allow_loopback=True):
        pass
    assert await states(nexus) == {"lee": LeaderState.ACTIVE}


async def test_what_keeps_a_leader_from_starting_is_raised(nexus, leader_key, tmp_path):
    journal = tmp_path / "journal"
    journal.write_bytes(b"this is no journal" * 1_000)
    with pytest.raises(NexusError) as caught:
        async with nexus.leader("lee", leader_key, journal):
            pass
    assert caught.value.code.startswith("journal_")


async def test_events_of_other_kinds_are_left_out(nexus):
    await nexus.tools.register(double.definition(URL))
    await nexus.tools.update(DOUBLE, timeout_ms=2_000)
    events = nexus.events(ToolRegistered, after=Cursor.beginning(), timestamps=True)
    happened = await anext(events)
    await events.aclose()
    assert happened.event.fqn == DOUBLE
    assert happened.timestamp_ms is not None


@pytest.mark.parametrize(
    ("config", "code"),
    [({"storages": {"walrus": 7}}, "argument_invalid"), ({"workers": "x"}, "config_invalid")],
)
async def test_what_no_leader_can_run_with_registers_none(nexus, config, code):
    with pytest.raises(NexusError) as caught:
        async with nexus.leader("lee", **config):
            pass
    assert caught.value.code == code
    assert await nexus.leaders.list() == ()


@pytest.fixture
async def resting_leader(nexus, localnet, leader_key):
    """The id of an active leader, behind which no daemon works."""
    async with Nexus.at(localnet, leader_key, deployment=nexus.deployment) as leading:
        return (await leading.leaders.register("rest", activate=True))[1]


async def test_invocations_are_listed_by_who_requested_them(nexus, resting_leader):
    await nexus.tools.register(double.definition(URL))
    _, mine = await nexus.invocations.request(await nexus.tools.get(DOUBLE), {"number": 1})
    assert [each.id for each in await nexus.invocations.mine()] == [mine]
    assert await nexus.invocations.mine(KeyPair.new().address) == ()


@pytest.mark.parametrize(
    ("where", "key", "words"),
    [(5, None, "the name of a network"), ("localnet", 5, "a KeyPair or another Signer")],
)
async def test_connect_refuses_what_is_not_a_network_or_a_key(home, where, key, words):
    for opening in (Nexus.at, Nexus.publish):
        with pytest.raises(UsageError) as caught:
            async with opening(where, key):
                pass
        assert caught.value.code == "argument_invalid"
        assert words in caught.value.message


# --- Names of leaders, and arguments that only a type checker would refuse


async def test_leaders_are_named_by_name_as_on_the_command_line(nexus, resting_leader):
    await nexus.tools.register(double.definition(URL), price_mist=1, leaders=["rest"])
    tool = await nexus.tools.get(DOUBLE)
    assert tool.leaders.entries == (resting_leader,)
    assert await nexus.invocations.leaders_for(tool, ["rest"]) == (resting_leader,)
    assert await nexus.invocations.leaders_for(tool, [str(resting_leader)]) == (resting_leader,)
    assert (await nexus.leaders.find("rest")).id == resting_leader
    with pytest.raises(NotFoundError) as caught:
        await nexus.invoke(DOUBLE, {"number": 1}, leaders=["lee"])
    assert caught.value.code == "unknown_leader"


async def test_two_leaders_of_one_name_are_told_apart_by_their_ids(nexus, resting_leader):
    _, second = await nexus.leaders.register("rest")
    with pytest.raises(UsageError) as caught:
        await nexus.leaders.find("rest")
    assert caught.value.code == "leader_ambiguous"
    assert str(second) in caught.value.hint
    assert (await nexus.leaders.find(str(second))).id == second


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda nexus: nexus.tools.register(double), "a function with @tool has a definition(url)"),
        (lambda nexus: nexus.tools.update(DOUBLE, price_mist=0.5), "amounts are in MIST"),
        (lambda nexus: nexus.invoke(DOUBLE, {}, leaders="lee"), "a list of Address or text"),
        (
            lambda nexus: nexus.tools.register(Registration(double.definition(URL), 0.5)),
            "as tools.price_mist, not 0.5",
        ),
    ],
)
async def test_an_argument_of_another_type_is_refused_with_what_is_taken(nexus, call, words):
    with pytest.raises(UsageError) as caught:
        await call(nexus)
    assert caught.value.code == "argument_invalid"
    assert words in str(caught.value)


async def test_close_and_delete_refuse_to_send_an_empty_transaction(nexus, resting_leader):
    for verb, code in (
        (nexus.invocations.close(resting_leader, {}), "nothing_to_close"),
        (nexus.invocations.delete(), "nothing_to_delete"),
    ):
        with pytest.raises(UsageError) as caught:
            await verb
        assert caught.value.code == code


# --- Invoking


async def test_an_invocation_brings_an_answer_and_leaves_nothing_behind(nexus):
    async with serving(double) as url, nexus.leader("lee", allow_loopback=True) as leader:
        registration = Registration(double.definition(url), 1_000, leaders=(leader.id,))
        await nexus.tools.register(registration)
        answer = await nexus.invoke(DOUBLE, {"number": 21})
        assert (answer.variant, answer.ports) == ("ok", {"value": 42})
    assert await nexus.invocations.mine() == ()


async def test_of_leaders_that_are_named_the_first_ones_that_can_be_are_taken(
    nexus, resting_leader
):
    async with serving(double) as url, nexus.leader("lee", allow_loopback=True) as leader:
        await nexus.tools.register(double.definition(url))
        mine = [leader.id, resting_leader]
        await nexus.invoke(DOUBLE, {"number": 1}, leaders=mine)
        events = nexus.events(InvocationRequested, after=Cursor.beginning())
        assert (await anext(events)).event.leaders == tuple(mine)
        await events.aclose()


async def test_a_failure_is_raised_and_its_invocation_deleted(nexus):
    async with serving(double) as url, nexus.leader("lee", allow_loopback=True):
        await nexus.tools.register(double.definition(f"{url}/nowhere"))
        with pytest.raises(InvocationFailedError) as caught:
            await nexus.invoke(DOUBLE, {"number": 1})
    assert caught.value.failure.reason is FailureReason.HTTP_ERROR
    assert await nexus.invocations.mine() == ()


async def test_invoke_refuses_an_answer_that_breaks_the_output_schema(
    nexus, localnet, leader_key, resting_leader
):
    await nexus.tools.register(double.definition(URL))
    invoking = asyncio.create_task(nexus.invoke(DOUBLE, {"number": 1}))
    async with aclosing(nexus.events(InvocationRequested, after=Cursor.beginning())) as events:
        requested = (await anext(events)).event.invocation
    answer = Answer("no_such", {"value": 2})
    async with Nexus.at(localnet, leader_key, deployment=nexus.deployment) as leading:
        await leading.invocations.close(resting_leader, {requested: answer})
    with pytest.raises(OutputInvalidError) as caught:
        await invoking
    assert (caught.value.answer, caught.value.invocation) == (answer, requested)
    assert "is not a variant of the tool; it has ok" in caught.value.message
    [kept] = await nexus.invocations.mine()  # it stays on chain for inspection
    assert kept.id == requested


@pytest.mark.usefixtures("resting_leader")
async def test_who_gives_up_waiting_finds_the_invocation_again(nexus):
    await nexus.tools.register(double.definition(URL))
    invoking = asyncio.create_task(nexus.invoke(DOUBLE, {"number": 1}))
    async with aclosing(nexus.events(InvocationRequested, after=Cursor.beginning())) as events:
        requested = (await anext(events)).event.invocation
    invoking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await invoking
    assert [each.id for each in await nexus.invocations.mine()] == [requested]


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
