import dataclasses

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import ToolState, name_id, parse_event, tool_id
from nexus_tools.contracts.move_bindings.collateral import CollateralLocked
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.errors import NotAllowedError, NotFoundError, ValidationError, WrongStateError
from nexus_tools.registry import Registration, ToolRegistry
from nexus_tools.sui.client import SimulatedTransaction
from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.types.object import Shared
from nexus_tools.tool import MoveFunction, ToolFqn, ToolType

SUI = 1_000_000_000
DAY = 86_400_000
ADD = ToolFqn.parse("xyz.example.math.add@1")


@pytest.mark.usefixtures("priced_tool")
async def test_registered_tool_is_read_back_completely(registry, define, owner, active_leader):
    tool = await registry.get(ADD)
    assert tool.definition.parse() == define()
    assert tool.state is ToolState.ACTIVE
    assert (tool.price_mist, tool.payout) == (500, owner.address)
    assert tool.collateral.balance_mist == tool.collateral.required_mist == SUI
    assert tool.collateral.delay_ms == 7 * DAY
    assert tool.leaders.entries == (active_leader,)
    assert (tool.operators.entries, tool.keys.keys) == ((), ())
    assert (tool.min_outcome_bytes, tool.requires_signed_outcome) == (0, False)
    assert (tool.index, tool.revision) == (0, 0)


async def test_register_sets_keys_and_answer_terms(registry, define):
    keys = bytes(range(32)), b"\x02" * 32
    await registry.register(
        Registration(define(), keys=keys, requires_signed_outcome=True, min_outcome_bytes=9)
    )
    tool = await registry.get(ADD)
    assert tool.keys.keys == keys
    assert (tool.min_outcome_bytes, tool.requires_signed_outcome) == (9, True)


async def test_register_creates_derived_ids(registry, added, chain, owner):
    [registered] = added.tools
    name = name_id(chain.deployment.tool_registry, ADD.unversioned)
    assert registered.tool == tool_id(chain.deployment.tool_registry, ADD)
    tool, shared = await owner.objects([registered.tool, name])
    assert isinstance(tool.owner, Shared)
    assert isinstance(shared.owner, Shared)
    assert (await registry.get(ADD)).name == name


async def test_register_costs_collateral_and_gas(registry, owner, define):
    before = await owner.balance(owner.address)
    result = await registry.register(Registration(define()))
    after = await owner.balance(owner.address)
    assert before - after == SUI + result.sent.cost.net


async def test_register_emits_events(added, chain, define, owner):
    registered, locked = [parse_event(chain.deployment, event) for event in added.sent.events]
    assert isinstance(registered, ToolRegistered)
    assert (registered.fqn, registered.tool_type) == (str(ADD), "offchain")
    assert (registered.url, registered.owner) == (define().url, owner.address)
    assert isinstance(locked, CollateralLocked)
    assert (locked.object, locked.amount_mist) == (registered.tool, SUI)
    assert locked.delay_ms == 7 * DAY


async def test_register_many_tools_in_one_transaction(registry, define):
    names = [
        "xyz.example.math.add@1",
        "xyz.example.math.add@2",
        "xyz.example.math.mul@1",
        "xyz.example.text.join@7",
    ]
    result = await registry.register(*(Registration(define(name)) for name in names))
    assert [str(tool.fqn) for tool in result.tools] == names
    assert [tool.fqn async for tool in registry.iterate()] == names
    assert len(result.sent.created_of("name", "Name")) == 3


async def test_new_version_uses_existing_name(registry, added, define):
    result = await registry.register(Registration(define("xyz.example.math.add@2")))
    assert result.sent.created_of("name", "Name") == ()
    first, second = await registry.versions(ADD.unversioned)
    assert first.name == second.name


async def test_register_again_reports_existing_tool(registry, added, define, owner):
    before = await owner.balance(owner.address)
    result = await registry.register(Registration(define()))
    assert result.sent is None
    assert [tool.is_new for tool in result.tools] == [False]
    assert [tool.is_new for tool in added.tools] == [True]
    assert await owner.balance(owner.address) == before


async def test_register_applies_price_and_leaders_to_definitions(registry, define, active_leader):
    definitions = [define(), define("xyz.example.math.mul@1")]
    await registry.register(*definitions, price_mist=5, leaders=[active_leader])
    tool = [(tool.price_mist, tool.leaders.entries) async for tool in registry.iterate()]
    assert tool == [(5, (active_leader,))] * 2


@pytest.mark.usefixtures("priced_tool")
async def test_register_again_reports_the_original_price(registry, define, active_leader):
    leaders = (active_leader,)
    again = await registry.register(Registration(define(), 7, leaders=leaders))
    assert again.tools[0].price_mist == (await registry.get(ADD)).price_mist == 500
    second = define("xyz.example.math.add@2")
    registered = await registry.register(Registration(second, 8, leaders=leaders))
    assert registered.tools[0].price_mist == 8


@pytest.mark.usefixtures("added")
async def test_register_sends_only_missing_tools(registry, define):
    definitions = [Registration(define()), Registration(define("xyz.example.math.mul@1"))]
    result = await registry.register(*definitions)
    assert [tool.is_new for tool in result.tools] == [False, True]
    assert len(result.sent.created_of("tool", "Tool")) == 1


@pytest.mark.usefixtures("added")
async def test_register_fails_for_different_definition(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(url="https://elsewhere.example.com")))
    assert caught.value.code == "definition_differs"


@pytest.mark.usefixtures("added")
async def test_register_fails_for_name_of_another_account(strangers, define):
    with pytest.raises(NotAllowedError) as caught:
        await strangers.register(Registration(define("xyz.example.math.add@2")))
    assert caught.value.code == "name_taken"


async def test_register_fails_for_repeated_fqn(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define()), Registration(define()))
    assert caught.value.code == "fqn_duplicate"


@pytest.mark.usefixtures("added")
async def test_register_fails_for_unregistered_tool(registry, define):
    await registry.unregister(ADD)
    with pytest.raises(WrongStateError, match="cancel the unregistration"):
        await registry.register(Registration(define()))


async def test_register_fails_for_missing_move_function(registry, define):
    function = MoveFunction("0x2::math::Add")
    definition = dataclasses.replace(
        define(), type=ToolType.ONCHAIN, url="0x2::math::add", function=function
    )
    with pytest.raises(NotFoundError) as caught:
        await registry.register(Registration(definition))
    assert caught.value.code == "function_unknown"


async def test_large_schema_is_joined_from_chunks(registry, define):
    text = "x" * 45_000
    schema = {**define().input_schema, "description": text}
    await registry.register(Registration(define(input_schema=schema)))
    assert (await registry.get(ADD)).definition.parse().input_schema["description"] == text


async def test_register_fails_for_too_large_schema(registry, admins, define):
    await admins.configure(replace(await admins.settings(), max_schema_bytes=100))
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define()))
    assert caught.value.code == "schema_too_large"


async def test_register_fails_for_timeout_out_of_range(registry, admins, define):
    settings = await admins.settings()
    await admins.configure(replace(settings, max_timeout_ms=4_000))
    with pytest.raises(ValidationError, match="1000 to 4000 ms"):
        await registry.register(Registration(define()))


# --- Terms


async def test_register_fails_for_price_without_leaders(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(), price_mist=1))
    assert caught.value.code == "accepts_any_leader"


async def test_register_fails_for_signed_answers_without_key(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(), requires_signed_outcome=True))
    assert caught.value.code == "signing_key_missing"


async def test_register_fails_for_longer_delay_than_accepted(registry, admins, define):
    settings = await registry.settings()
    await admins.configure(replace(settings, unregister_delay_ms=DAY))
    accepted = await registry.settings()
    await admins.configure(replace(settings, unregister_delay_ms=2 * DAY))
    with pytest.raises(WrongStateError, match="2 d, longer than the accepted 1 d") as caught:
        await registry.register(Registration(define(), max_delay_ms=accepted.unregister_delay_ms))
    assert caught.value.code == "delay_too_long"
    await registry.register(Registration(define(), max_delay_ms=2 * DAY))
    assert (await registry.get(ADD)).collateral.delay_ms == 2 * DAY


async def test_shorter_delay_than_accepted_applies(registry, admins, define):
    await admins.configure(replace(await registry.settings(), unregister_delay_ms=DAY))
    await registry.register(Registration(define(), max_delay_ms=7 * DAY))
    assert (await registry.get(ADD)).collateral.delay_ms == DAY


async def test_register_fails_for_higher_collateral_than_accepted(registry, admins, define, owner):
    settings = await registry.settings()
    await admins.configure(replace(settings, collateral_mist=2 * SUI))
    before = await owner.balance(owner.address)
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(), collateral_mist=settings.collateral_mist))
    assert caught.value.code == "collateral_too_small"
    assert await owner.balance(owner.address) == before
    await admins.configure(replace(settings, collateral_mist=SUI // 2))
    await registry.register(Registration(define(), collateral_mist=settings.collateral_mist))
    assert (await registry.get(ADD)).collateral.required_mist == SUI


async def test_dry_run_registers_nothing(owner, chain, define):
    registry = ToolRegistry(owner, chain.deployment, dry_run=True)
    result = await registry.register(Registration(define()))
    assert isinstance(result.sent, SimulatedTransaction)
    assert result.sent.cost.net > 0
    assert await registry.find(ADD) is None


def _tools(define, count, **changes):
    return [define(f"xyz.example.many.t{number:03}@1", **changes) for number in range(count)]


@pytest.mark.parametrize(
    ("count", "padding", "transactions"), [(250, 0, 3), (30, 15_000, 5)], ids=["small", "large"]
)
async def test_register_all_splits_into_transactions(
    registry, define, count, padding, transactions
):
    schema = {"type": "object", "description": "x" * padding}
    definitions = _tools(define, count, input_schema=schema)
    results = [result async for result in registry.register_all(*definitions)]
    assert len({result.sent.digest for result in results}) == len(results) == transactions
    assert [tool.fqn for result in results for tool in result.tools] == [
        definition.fqn for definition in definitions
    ]
    assert (await registry.list()).total == count


async def test_register_all_resumes_after_interruption(registry, define):
    definitions = _tools(define, 120)
    async for result in registry.register_all(*definitions):
        done = {tool.fqn for tool in result.tools}
        break
    known, rest = [result async for result in registry.register_all(*definitions)]
    assert (known.sent, {tool.fqn for tool in known.tools if not tool.is_new}) == (None, done)
    assert all(tool.is_new for tool in rest.tools)
    assert (await registry.list()).total == 120


async def test_batches_keep_versions_of_a_name_together(registry, define):
    second = define("xyz.example.many.t000@2")
    results = [result async for result in registry.register_all(*_tools(define, 110), second)]
    together = [{str(tool.fqn) for tool in result.tools} for result in results]
    assert any({"xyz.example.many.t000@1", str(second.fqn)} <= part for part in together)
    assert len(await registry.versions(second.fqn.unversioned)) == 2


async def test_register_all_fails_without_collateral_for_all(registry, admins, define):
    settings = await registry.settings()
    await admins.configure(replace(settings, collateral_mist=1_000 * SUI))
    with pytest.raises(WrongStateError) as caught:
        [result async for result in registry.register_all(*_tools(define, 250))]
    assert caught.value.code == "not_enough_sui"
    assert (await registry.list()).items == ()


async def test_register_all_sends_nothing_if_one_is_invalid(registry, define):
    definitions = _tools(define, 250)
    with pytest.raises(ValidationError) as caught:
        [result async for result in registry.register_all(*definitions, definitions[3])]
    assert caught.value.code == "fqn_duplicate"
    assert (await registry.list()).items == ()


# --- Requests to the node


@pytest.fixture
def requests(monkeypatch):
    """Return the list of procedures that clients call on the node."""
    names, call = [], Connection.call

    async def record(self, name, **fields):
        names.append(name.rpartition("/")[2])
        return await call(self, name, **fields)

    monkeypatch.setattr(Connection, "call", record)
    return names


@pytest.mark.parametrize(("count", "reads"), [(1, 2), (250, 13)])
async def test_register_all_reads_the_registry_once(
    registry, define, active_leader, requests, count, reads
):
    registrations = [
        Registration(definition, 5, leaders=(active_leader,))
        for definition in _tools(define, count)
    ]
    requests.clear()
    results = [result async for result in registry.register_all(*registrations)]
    assert sum(len(result.tools) for result in results) == count
    # A read has at most 50 objects: of the registry, the tools and their names, and the leader.
    assert requests.count("BatchGetObjects") == reads
    assert requests.count("SimulateTransaction") == len(results)
    assert requests.count("ExecuteTransaction") == len(results)
