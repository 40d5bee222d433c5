from dataclasses import replace

import pytest

from nexus_tools.client import Simulated
from nexus_tools.errors import NotAllowedError, NotFoundError, NotNowError, ValidationError
from nexus_tools.registry import (
    Registration,
    ToolFilter,
    ToolRegistry,
    ToolState,
    calls,
    owner_cap_id,
    parse_event,
    tool_id,
)
from nexus_tools.registry.events import ToolRegistered
from nexus_tools.registry.listing import read_fqns
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.object import AddressOwner
from nexus_tools.tool import ToolFqn, ToolType

SUI = 1_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR
ADD = ToolFqn.parse("xyz.example.math.add@1")


@pytest.fixture
def registry(owner, chain):
    return ToolRegistry(owner, chain.deployment)


@pytest.fixture
def strangers(user, chain):
    return ToolRegistry(user, chain.deployment)


@pytest.fixture
def admins(admin, chain):
    return ToolRegistry(admin, chain.deployment)


@pytest.fixture
async def added(registry, define):
    """The tool `ADD` is registered."""
    return await registry.register(Registration(define(), price_mist=500))


# --- Registering


async def test_a_registered_tool_is_read_back_with_everything(registry, added, define, owner):
    tool = await registry.get(ADD)
    assert tool.definition.parse() == define()
    assert tool.state is ToolState.ACTIVE
    assert (tool.price_mist, tool.payout) == (500, owner.address)
    assert tool.bond.balance_mist == tool.bond.required_mist == SUI
    assert tool.bond.delay_ms == 7 * DAY
    assert (tool.verified, tool.operators, tool.index) == (False, (), 0)
    assert tool.id == added.tools[0].tool


async def test_the_ids_of_tool_and_owner_cap_are_those_that_anyone_computes(
    registry, added, chain, owner
):
    [tool] = added.tools
    assert tool.tool == tool_id(chain.deployment.tool_registry, ADD)
    assert tool.owner_cap == owner_cap_id(chain.deployment.tool_registry, ADD.unversioned)
    cap = await owner.object(tool.owner_cap)
    assert cap.owner == AddressOwner(owner.address)
    assert (await registry.get(ADD)).owner == tool.owner_cap


async def test_registering_costs_the_collateral_and_the_gas(registry, owner, define):
    before = await owner.balance(owner.address)
    result = await registry.register(Registration(define()))
    after = await owner.balance(owner.address)
    assert before - after == SUI + result.sent.cost.net


async def test_registering_is_told_to_those_who_watch(added, chain, define):
    [event] = [parse_event(chain.deployment, each) for each in added.sent.events]
    assert isinstance(event, ToolRegistered)
    assert (event.fqn, event.tool_type, event.url) == (str(ADD), "offchain", define().url)
    assert (event.collateral_mist, event.unregister_delay_ms) == (SUI, 7 * DAY)


async def test_many_tools_are_registered_in_one_transaction(registry, define):
    names = [
        "xyz.example.math.add@1",
        "xyz.example.math.add@2",
        "xyz.example.math.mul@1",
        "xyz.example.text.join@7",
    ]
    result = await registry.register(*(Registration(define(name)) for name in names))
    assert [str(tool.fqn) for tool in result.tools] == names
    assert [tool.fqn for tool in await registry.list()] == names
    created = result.sent.created_of("tool", "OwnerCap")
    assert set(created) == {tool.owner_cap for tool in result.tools}
    assert len(created) == 3


async def test_a_new_version_goes_under_the_owner_cap_that_is_on_chain(registry, added, define):
    result = await registry.register(Registration(define("xyz.example.math.add@2")))
    assert result.tools[0].owner_cap == added.tools[0].owner_cap
    assert result.sent.created_of("tool", "OwnerCap") == ()


async def test_registering_the_same_again_is_a_success_that_says_so(registry, added, define, owner):
    before = await owner.balance(owner.address)
    result = await registry.register(Registration(define()))
    assert result.sent is None
    assert [tool.new for tool in result.tools] == [False]
    assert [tool.new for tool in added.tools] == [True]
    assert await owner.balance(owner.address) == before


@pytest.mark.usefixtures("added")
async def test_of_several_only_what_is_missing_is_registered(registry, define):
    both = [Registration(define()), Registration(define("xyz.example.math.mul@1"))]
    result = await registry.register(*both)
    assert [tool.new for tool in result.tools] == [False, True]
    assert len(result.sent.created_of("tool", "Tool")) == 1


@pytest.mark.usefixtures("added")
async def test_another_definition_under_the_same_fqn_is_refused(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(url="https://elsewhere.example.com")))
    assert caught.value.code == "definition_differs"


@pytest.mark.usefixtures("added")
async def test_a_strangers_name_is_refused_before_anything_is_sent(strangers, define):
    with pytest.raises(NotAllowedError) as caught:
        await strangers.register(Registration(define("xyz.example.math.add@2")))
    assert caught.value.code == "name_taken"


async def test_an_fqn_cannot_be_registered_twice_at_once(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define()), Registration(define()))
    assert caught.value.code == "fqn_repeated"


@pytest.mark.usefixtures("added")
async def test_a_tool_that_ended_is_not_registered_but_revived(registry, define):
    await registry.unregister(ADD)
    with pytest.raises(NotNowError, match="cancel the unregistration"):
        await registry.register(Registration(define()))


async def test_an_on_chain_tool_is_not_accepted_yet(registry, define):
    definition = replace(define(), type=ToolType.ONCHAIN, url="0x2::math::add")
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(definition))
    assert caught.value.code == "onchain_not_accepted"


async def test_schemas_beyond_one_pure_argument_are_joined_from_chunks(registry, define):
    text = "x" * 45_000
    schema = {**define().input_schema, "description": text}
    await registry.register(Registration(define(input_schema=schema)))
    assert (await registry.get(ADD)).definition.parse().input_schema["description"] == text


async def test_a_schema_beyond_the_registrys_limit_is_refused_in_words(registry, admins, define):
    await admins.configure(replace(await admins.settings(), max_schema_bytes=100))
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define()))
    assert caught.value.code == "schema_too_large"


async def test_a_timeout_outside_the_registrys_bounds_is_refused_in_words(registry, admins, define):
    settings = await admins.settings()
    await admins.configure(replace(settings, max_timeout_ms=4_000))
    with pytest.raises(ValidationError, match="1000 to 4000 ms"):
        await registry.register(Registration(define()))


async def test_a_dry_run_registers_nothing(owner, chain, define):
    registry = ToolRegistry(owner, chain.deployment, dry_run=True)
    result = await registry.register(Registration(define()))
    assert isinstance(result.sent, Simulated)
    assert result.sent.cost.net > 0
    assert await registry.find(ADD) is None


# --- Finding


async def test_a_tool_that_is_not_registered_is_not_found(registry):
    assert await registry.find(ADD) is None
    with pytest.raises(NotFoundError) as caught:
        await registry.get(ADD)
    assert caught.value.code == "tool_unknown"


@pytest.fixture
async def four(registry, strangers, define):
    names = ["xyz.example.math.add@1", "xyz.example.math.mul@1", "xyz.example.text.join@1"]
    await registry.register(*(Registration(define(name)) for name in names))
    theirs = define("org.example.maths.add@1", description="Adds, too")
    await strangers.register(Registration(theirs))


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (ToolFilter(), ["math.add@1", "math.mul@1", "text.join@1", "maths.add@1"]),
        (ToolFilter(domain="xyz.example.math"), ["math.add@1", "math.mul@1"]),
        (ToolFilter(domain="xyz"), ["math.add@1", "math.mul@1", "text.join@1"]),
        (ToolFilter(search="TOO"), ["maths.add@1"]),
        (ToolFilter(search="join"), ["text.join@1"]),
        (ToolFilter(state=ToolState.CLAIMED), []),
    ],
)
async def test_tools_are_listed_as_the_filter_says(registry, wanted, names):
    found = [
        tool.fqn.removeprefix("xyz.example.").removeprefix("org.example.")
        for tool in await registry.list(wanted)
    ]
    assert found == names


@pytest.mark.usefixtures("four")
async def test_tools_are_listed_by_owner(registry, user, owner):
    theirs = await registry.list(ToolFilter(owner=user.address))
    assert [tool.fqn for tool in theirs] == ["org.example.maths.add@1"]
    assert len(await registry.list(ToolFilter(owner=owner.address))) == 3


@pytest.mark.usefixtures("four")
async def test_the_list_is_read_in_parts(registry, owner):
    state = await registry.state()
    assert [fqn.name for fqn in await read_fqns(owner, state, 1, 3)] == ["mul", "join"]
    assert [fqn.name for fqn in await read_fqns(owner, state, 3, 99)] == ["add"]


async def test_python_and_move_agree_about_ids_and_names(added, owner, chain):
    builder = TransactionBuilder()
    calls.tool_registry.tool_id(builder, chain.deployment, str(ADD))
    calls.tool_registry.contains(builder, chain.deployment, ADD.unversioned)
    calls.tool_registry.contains(builder, chain.deployment, "xyz.example.math.mul")
    calls.tool_registry.length(builder, chain.deployment)
    calls.tool_registry.fqn(builder, chain.deployment, 0)
    calls.fqn.unversioned(builder, chain.deployment, str(ADD))
    results = [values[0] for values in (await owner.inspect(builder)).results]
    name = ADD.unversioned.encode()
    assert results == [
        added.tools[0].tool,
        b"\x01",
        b"\x00",
        (1).to_bytes(8, "little"),
        bytes([len(str(ADD))]) + str(ADD).encode(),
        bytes([len(name)]) + name,
    ]


@pytest.mark.usefixtures("added")
async def test_the_views_of_a_tool_are_what_python_decodes(registry, owner, chain):
    tool = await registry.get(ADD)
    builder = TransactionBuilder()
    for view in ("is_active", "fqn", "timeout_ms", "price_mist", "payout", "is_verified"):
        getattr(calls.tool, view)(builder, chain.deployment, tool.id)
    results = [values[0] for values in (await owner.inspect(builder)).results]
    assert results == [
        b"\x01",
        bytes([len(tool.fqn)]) + tool.fqn.encode(),
        tool.definition.timeout_ms.to_bytes(8, "little"),
        (500).to_bytes(8, "little"),
        tool.payout,
        b"\x00",
    ]


# --- The end of a tool


@pytest.mark.usefixtures("added")
async def test_collateral_is_claimed_when_the_delay_is_over_and_not_before(registry, owner, chain):
    await registry.unregister(ADD)
    tool = await registry.get(ADD)
    assert tool.state is ToolState.UNREGISTERED
    now = await owner.now_ms()
    assert now <= tool.claimable_at_ms <= now + 7 * DAY
    chain.net.advance_clock(HOUR // 2)
    with pytest.raises(NotNowError) as caught:
        await registry.claim(ADD)
    assert caught.value.code == "delay_not_over"
    assert "(in 6 d 23 h)" in caught.value.message
    chain.net.advance_clock(7 * DAY)
    before = await owner.balance(owner.address)
    sent = await registry.claim(ADD)
    assert await owner.balance(owner.address) == before + SUI - sent.cost.net
    tool = await registry.get(ADD)
    assert (tool.state, tool.bond, tool.claimable_at_ms) == (ToolState.CLAIMED, None, None)


@pytest.mark.usefixtures("added")
async def test_a_cancelled_unregistration_makes_the_tool_active_again(registry):
    await registry.unregister(ADD)
    await registry.cancel_unregister(ADD)
    assert (await registry.get(ADD)).is_active


@pytest.mark.usefixtures("added")
async def test_a_claimed_tool_comes_back_with_new_collateral(registry, chain):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    await registry.re_register(ADD)
    tool = await registry.get(ADD)
    assert tool.is_active
    assert tool.bond.balance_mist == SUI


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        ("cancel_unregister", "release_not_started"),
        ("claim", "release_not_started"),
        ("re_register", "not_claimed"),
        ("top_up", "nothing_to_top_up"),
    ],
)
@pytest.mark.usefixtures("added")
async def test_verbs_that_do_not_fit_an_active_tool_are_refused_in_words(registry, verb, code):
    with pytest.raises(NotNowError) as caught:
        await getattr(registry, verb)(ADD)
    assert caught.value.code == code


@pytest.mark.parametrize("verb", ["unregister", "cancel_unregister", "claim", "top_up"])
@pytest.mark.usefixtures("added")
async def test_verbs_that_need_collateral_are_refused_once_it_is_claimed(registry, chain, verb):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    with pytest.raises(NotNowError) as caught:
        await getattr(registry, verb)(ADD)
    assert caught.value.code == "claimed"


@pytest.mark.usefixtures("added")
async def test_unregistering_twice_says_when_the_collateral_can_be_claimed(registry):
    await registry.unregister(ADD)
    with pytest.raises(NotNowError) as caught:
        await registry.unregister(ADD)
    assert caught.value.code == "already_released"
    assert "claimable at" in caught.value.message


@pytest.mark.parametrize(
    "verb", ["unregister", "cancel_unregister", "claim", "re_register", "top_up"]
)
@pytest.mark.usefixtures("added")
async def test_a_stranger_is_told_whose_tool_it_is(strangers, owner, verb):
    with pytest.raises(NotAllowedError) as caught:
        await getattr(strangers, verb)(ADD)
    assert caught.value.code == "not_owner"
    assert str(owner.address) in caught.value.message


# --- Updates


@pytest.mark.usefixtures("added")
async def test_the_owner_updates_everything_that_may_change(registry, user):
    await registry.update_url(ADD, "https://new.example.com")
    await registry.update_timeout(ADD, 7_000)
    await registry.update_price(ADD, 900)
    await registry.update_description(ADD, "Adds ünicode.")
    await registry.update_payout(ADD, user.address)
    tool = await registry.get(ADD)
    assert tool.definition.url == "https://new.example.com"
    assert tool.definition.timeout_ms == 7_000
    assert tool.definition.description == "Adds ünicode."
    assert (tool.price_mist, tool.payout) == (900, user.address)


@pytest.mark.usefixtures("added")
async def test_an_operator_updates_url_timeout_and_price_alone(registry, strangers, user):
    sent = await registry.issue_operator_cap(ADD, user.address)
    [cap] = sent.created_of("tool", "OperatorCap")
    await strangers.update_url(ADD, "https://operated.example.com")
    await strangers.update_timeout(ADD, 8_000)
    await strangers.update_price(ADD, 1)
    tool = await registry.get(ADD)
    assert tool.operators == (cap,)
    assert tool.definition.url == "https://operated.example.com"
    with pytest.raises(NotAllowedError):
        await strangers.update_description(ADD, "mine")


@pytest.mark.usefixtures("added")
async def test_a_revoked_operator_is_no_operator(registry, strangers, user):
    sent = await registry.issue_operator_cap(ADD, user.address)
    [cap] = sent.created_of("tool", "OperatorCap")
    await registry.revoke_operator_cap(ADD, cap)
    with pytest.raises(NotAllowedError) as caught:
        await strangers.update_price(ADD, 1)
    assert caught.value.code == "not_operator"
    await strangers.burn_operator_cap(cap)
    assert await user.object(cap) is None


# --- Admin


@pytest.mark.usefixtures("added")
async def test_the_admin_vouches_until_the_url_changes(registry, admins):
    await admins.verify(ADD)
    assert (await registry.get(ADD)).verified
    await registry.update_url(ADD, "https://new.example.com")
    assert not (await registry.get(ADD)).verified


@pytest.mark.usefixtures("added")
async def test_a_slashed_tool_is_suspended_until_it_is_topped_up(registry, admins, admin):
    before = await admin.balance(admin.address)
    sent = await admins.slash(ADD, SUI // 4, "it lies")
    assert await admin.balance(admin.address) == before + SUI // 4 - sent.cost.net
    tool = await registry.get(ADD)
    assert tool.state is ToolState.SUSPENDED
    assert tool.bond.shortfall_mist == SUI // 4
    await registry.top_up(ADD)
    assert (await registry.get(ADD)).is_active


@pytest.mark.usefixtures("added")
async def test_new_settings_bind_new_tools_alone(registry, admins, define):
    settings = replace(await admins.settings(), collateral_mist=3 * SUI, unregister_delay_ms=DAY)
    await admins.configure(settings)
    assert await registry.settings() == settings
    await registry.register(Registration(define("xyz.example.math.add@2")))
    old, new = await registry.list()
    assert (old.bond.required_mist, old.bond.delay_ms) == (SUI, 7 * DAY)
    assert (new.bond.required_mist, new.bond.delay_ms) == (3 * SUI, DAY)


@pytest.mark.usefixtures("added")
async def test_who_has_no_admin_cap_is_no_admin(strangers):
    with pytest.raises(NotAllowedError) as caught:
        await strangers.verify(ADD)
    assert caught.value.code == "object_not_yours"
