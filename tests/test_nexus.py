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
    UsageError,
    ValidationError,
    WrongStateError,
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
    """Create a user with an empty home directory."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("SUI_CONFIG_DIR", raising=False)
    return tmp_path


@pytest.fixture
def key():
    return KeyPair.new()


@pytest.fixture
async def nexus(registry, localnet, key, home):
    localnet.fund(key.address, 100 * 10**9)
    async with Nexus.connect(localnet, key, deployment=registry.deployment) as nexus:
        yield nexus


async def test_deployment_is_found_by_network_name(localnet, key, home):
    settings = Settings.load()
    settings.networks["mine"] = {"url": localnet.url, "faucet_url": localnet.url}
    settings.save()
    async with Nexus.publish("mine", key) as published:
        await published.tools.register(double.definition(URL))
    async with Nexus.connect("mine") as connected:
        assert connected.deployment == published.deployment
        assert (await connected.tools.get(DOUBLE)).definition.url == URL


async def test_proof_names_the_owner_of_a_tool(nexus, key, internet, monkeypatch):
    monkeypatch.setattr(domain_proof, "open_domain_prover", internet.asking)
    await nexus.tools.register(double.definition(URL))
    unknown = await nexus.domain_proof(DOUBLE)
    assert (unknown.state, unknown.host) == (ProofState.NOT_PROVED, None)
    place = nexus.deployment.chain_id, str(nexus.deployment.tool_registry)
    owners = DomainOwners((RegistryOwners(*place, (str(key.address),)),))
    internet.publish("math.example.xyz", owners.text().encode())
    assert (await nexus.domain_proof(DOUBLE)).state is ProofState.PROVED
    internet.publish("math.example.xyz", DomainOwners(()).text().encode())
    assert (await nexus.domain_proof(await nexus.tools.get(DOUBLE))).state is ProofState.PROVED
    assert (await nexus.domain_proof(DOUBLE, fresh=True)).is_denied
    assert len(internet.asked) == 2  # one response was cached


async def test_connect_hints_at_publish_when_the_network_has_no_deployment(localnet, home):
    with pytest.raises(NotFoundError) as caught:
        async with Nexus.connect(Network("elsewhere", localnet.url)):
            pass
    assert caught.value.code == "package_not_published"
    assert "package publish" in caught.value.hint


async def test_nexus_without_key_is_read_only(localnet, nexus):
    async with Nexus.connect(localnet, deployment=nexus.deployment) as reader:
        assert (await reader.tools.list()).items == ()
        with pytest.raises(NexusError) as caught:
            await reader.tools.register(double.definition(URL))
    assert caught.value.exit_code > 1


async def test_key_is_found_by_alias(localnet, nexus, key):
    wallet = Settings.load().open_wallet()
    wallet.add(key, "author")
    async with Nexus.connect(localnet, "author", deployment=nexus.deployment) as connected:
        assert connected.client.address == key.address


async def test_publish_fails_without_a_key(localnet, home):
    with pytest.raises(UsageError) as caught:
        async with Nexus.publish(localnet):
            pass
    assert caught.value.code == "key_missing"


async def test_invoke_rejects_invalid_inputs_before_payment(nexus, key):
    await nexus.tools.register(double.definition(URL))
    before = await nexus.client.balance(key.address)
    with pytest.raises(ValidationError) as caught:
        await nexus.invoke(DOUBLE, {"number": "seven"})
    assert caught.value.code == "input_invalid"
    assert await nexus.client.balance(key.address) == before


async def test_low_balance_hint_does_not_name_cli_localnet(localnet, nexus):
    poor = KeyPair.new()
    async with Nexus.connect(localnet, poor, deployment=nexus.deployment) as connected:
        with pytest.raises(WrongStateError) as caught:
            await connected.leaders.register("lee")
    assert caught.value.code == "not_enough_sui"
    assert f"SUI or more to {poor.address}" in caught.value.hint
    assert "nexus-tools localnet" not in caught.value.hint


async def test_leader_fails_without_key_and_faucet(localnet, nexus, key):
    network = Network("own", localnet.url)
    async with Nexus.connect(network, key, deployment=nexus.deployment) as poor:
        with pytest.raises(UsageError) as caught:
            async with poor.leader("lee"):
                pass
    assert caught.value.code == "key_missing"


@pytest.fixture
def leader_key(localnet):
    """Return a key that has enough SUI for a leader's collateral."""
    key = KeyPair.new()
    localnet.fund(key.address, 20_000_000_000)
    return key


async def states(nexus):
    return {leader.name: leader.state for leader in (await nexus.leaders.list()).items}


async def test_leader_reuses_registration_of_that_name(nexus, leader_key):
    ids = []
    for _ in range(2):
        async with nexus.leader("lee", leader_key, allow_loopback=True) as leader:
            ids.append(leader.id)
    (registered,) = await nexus.leaders.owned_by(leader_key.address)
    assert ids == [registered.id] * 2


async def test_key_can_run_leaders_of_several_names(nexus, localnet, leader_key):
    localnet.fund(leader_key.address, 20_000_000_000)
    for name in ("lee", "lou"):
        async with nexus.leader(name, leader_key, allow_loopback=True):
            pass
    owned = await nexus.leaders.owned_by(leader_key.address)
    assert [leader.name for leader in owned] == ["lee", "lou"]


async def test_worker_does_not_change_activity_of_leader(nexus, localnet, leader_key):
    worker = KeyPair.new()
    localnet.fund(worker.address, 1_000_000_000)
    async with Nexus.connect(localnet, leader_key, deployment=nexus.deployment) as owning:
        _, place = await owning.leaders.register("lee", workers=[worker.address])
        for is_active in (False, True):
            if is_active:
                await owning.leaders.activate(place)
            async with nexus.leader("lee", worker, allow_loopback=True) as leader:
                assert leader.id == place
                assert (await nexus.leaders.get(place)).is_active is is_active
            assert (await nexus.leaders.get(place)).is_active is is_active


async def test_leader_is_not_named_after_the_block(nexus):
    async with nexus.leader("lee", allow_loopback=True):
        assert await states(nexus) == {"lee": LeaderState.ACTIVE}
    assert await states(nexus) == {"lee": LeaderState.INACTIVE}


async def test_leader_is_deactivated_if_the_block_raises(nexus):
    with pytest.raises(RuntimeError):
        async with nexus.leader("lee", allow_loopback=True):
            raise RuntimeError
    assert await states(nexus) == {"lee": LeaderState.INACTIVE}


async def test_leader_stays_active_if_it_was_active_before(nexus, localnet, leader_key):
    async with Nexus.connect(localnet, leader_key, deployment=nexus.deployment) as leading:
        await leading.leaders.register("lee", activate=True)
    async with nexus.leader("lee", leader_key, allow_loopback=True):
        pass
    assert await states(nexus) == {"lee": LeaderState.ACTIVE}


async def test_leader_raises_error_that_prevents_its_start(nexus, leader_key, tmp_path):
    journal = tmp_path / "journal"
    journal.write_bytes(b"this is no journal" * 1_000)
    with pytest.raises(NexusError) as caught:
        async with nexus.leader("lee", leader_key, journal):
            pass
    assert caught.value.code.startswith("journal_")


async def test_events_yields_only_given_kinds(nexus):
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
async def test_leader_with_invalid_config_is_not_registered(nexus, config, code):
    with pytest.raises(NexusError) as caught:
        async with nexus.leader("lee", **config):
            pass
    assert caught.value.code == code
    assert (await nexus.leaders.list()).items == ()


@pytest.fixture
async def resting_leader(nexus, localnet, leader_key):
    """Return the ID of an active leader without a running daemon."""
    async with Nexus.connect(localnet, leader_key, deployment=nexus.deployment) as leading:
        return (await leading.leaders.register("rest", activate=True))[1]


async def test_invocations_are_listed_by_requester(nexus, resting_leader):
    await nexus.tools.register(double.definition(URL))
    _, requested = await nexus.invocations.request(await nexus.tools.get(DOUBLE), {"number": 1})
    assert [entry.id for entry in (await nexus.invocations.owned_by()).items] == [requested]
    assert (await nexus.invocations.owned_by(KeyPair.new().address)).items == ()


@pytest.mark.parametrize(
    ("where", "key", "words"),
    [(5, None, "the name of a network"), ("localnet", 5, "a KeyPair or another Signer")],
)
async def test_connect_and_publish_reject_invalid_network_or_key(home, where, key, words):
    for opening in (Nexus.connect, Nexus.publish):
        with pytest.raises(UsageError) as caught:
            async with opening(where, key):
                pass
        assert caught.value.code == "argument_invalid"
        assert words in caught.value.message


# --- Names of leaders, and arguments of wrong types


async def test_invoke_accepts_leaders_by_name(nexus, resting_leader):
    await nexus.tools.register(double.definition(URL), price_mist=1, leaders=["rest"])
    tool = await nexus.tools.get(DOUBLE)
    assert tool.leaders.entries == (resting_leader,)
    assert (await nexus.invocations.choose_leaders(tool, ["rest"])).leaders == (resting_leader,)
    assert (await nexus.invocations.choose_leaders(tool, [str(resting_leader)])).leaders == (
        resting_leader,
    )
    assert (await nexus.leaders.find("rest")).id == resting_leader
    with pytest.raises(NotFoundError) as caught:
        await nexus.invoke(DOUBLE, {"number": 1}, leaders=["lee"])
    assert caught.value.code == "leader_unknown"


async def test_leaders_with_equal_names_need_ids(nexus, resting_leader):
    _, second = await nexus.leaders.register("rest")
    with pytest.raises(UsageError) as caught:
        await nexus.leaders.find("rest")
    assert caught.value.code == "leader_ambiguous"
    assert str(second) in caught.value.hint
    assert (await nexus.leaders.find(str(second))).id == second


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda nexus: nexus.tools.register(double),
            "Call definition(url) of a function with the decorator @tool",
        ),
        (lambda nexus: nexus.tools.update(DOUBLE, price_mist=0.5), "Give the amount in MIST"),
        (lambda nexus: nexus.invoke(DOUBLE, {}, leaders="lee"), "a list of Address or text"),
        (
            lambda nexus: nexus.tools.register(Registration(double.definition(URL), 0.5)),
            "for tools.price_mist, got 0.5",
        ),
    ],
)
async def test_methods_reject_arguments_of_wrong_type(nexus, call, words):
    with pytest.raises(UsageError) as caught:
        await call(nexus)
    assert caught.value.code == "argument_invalid"
    assert words in str(caught.value)


async def test_close_and_delete_reject_empty_lists(nexus, resting_leader):
    for verb, code in (
        (nexus.invocations.close(resting_leader, {}), "nothing_to_close"),
        (nexus.invocations.delete(), "nothing_to_delete"),
    ):
        with pytest.raises(UsageError) as caught:
            await verb
        assert caught.value.code == code


# --- Invocations


async def test_invoke_returns_answer_and_deletes_invocation(nexus):
    async with serving(double) as url, nexus.leader("lee", allow_loopback=True) as leader:
        registration = Registration(double.definition(url), 1_000, leaders=(leader.id,))
        await nexus.tools.register(registration)
        answer = await nexus.invoke(DOUBLE, {"number": 21})
        assert (answer.variant, answer.ports) == ("ok", {"value": 42})
    assert (await nexus.invocations.owned_by()).items == ()


async def test_invoke_names_first_usable_leaders(nexus, resting_leader):
    async with serving(double) as url, nexus.leader("lee", allow_loopback=True) as leader:
        await nexus.tools.register(double.definition(url))
        candidates = [leader.id, resting_leader]
        await nexus.invoke(DOUBLE, {"number": 1}, leaders=candidates)
        events = nexus.events(InvocationRequested, after=Cursor.beginning())
        assert (await anext(events)).event.leaders == tuple(candidates)
        await events.aclose()


async def test_invoke_raises_failure_and_deletes_invocation(nexus):
    async with serving(double) as url, nexus.leader("lee", allow_loopback=True):
        await nexus.tools.register(double.definition(f"{url}/nowhere"))
        with pytest.raises(InvocationFailedError) as caught:
            await nexus.invoke(DOUBLE, {"number": 1})
    assert caught.value.failure.reason is FailureReason.HTTP_ERROR
    assert (await nexus.invocations.owned_by()).items == ()


async def test_invoke_raises_for_schema_invalid_answer(nexus, localnet, leader_key, resting_leader):
    await nexus.tools.register(double.definition(URL))
    invoking = asyncio.create_task(nexus.invoke(DOUBLE, {"number": 1}))
    async with aclosing(nexus.events(InvocationRequested, after=Cursor.beginning())) as events:
        requested = (await anext(events)).event.invocation
    answer = Answer("no_such", {"value": 2})
    async with Nexus.connect(localnet, leader_key, deployment=nexus.deployment) as leading:
        await leading.invocations.close(resting_leader, {requested: answer})
    with pytest.raises(OutputInvalidError) as caught:
        await invoking
    assert (caught.value.answer, caught.value.invocation) == (answer, requested)
    assert "is not a variant of the tool. Its variants are ok" in caught.value.message
    [remaining] = (await nexus.invocations.owned_by()).items  # it stays on chain for inspection
    assert remaining.id == requested


@pytest.mark.usefixtures("resting_leader")
async def test_cancelled_invoke_leaves_invocation_in_mine(nexus):
    await nexus.tools.register(double.definition(URL))
    invoking = asyncio.create_task(nexus.invoke(DOUBLE, {"number": 1}))
    async with aclosing(nexus.events(InvocationRequested, after=Cursor.beginning())) as events:
        requested = (await anext(events)).event.invocation
    invoking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await invoking
    assert [entry.id for entry in (await nexus.invocations.owned_by()).items] == [requested]


async def test_pysui_configuration_provides_network_and_key(localnet, nexus, home):
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
    async with Nexus.connect(config, deployment=nexus.deployment) as connected:
        assert connected.client.network.name == "plain"
        assert connected.client.address == other.address
        assert (await connected.tools.list()).items == ()
