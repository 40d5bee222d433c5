import dataclasses

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import ToolState, leader_id
from nexus_tools.contracts.move_bindings.collateral import SlashProposed
from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    NotNowError,
    UsageError,
    ValidationError,
)
from nexus_tools.registry import Registration
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

SUI = 1_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR
ADD = ToolFqn.parse("xyz.example.math.add@1")
EVIDENCE = KEY = bytes(range(32))


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
    assert sent.created_of("coin", "Coin") == ()
    tool = await registry.get(ADD)
    assert (tool.state, tool.claimable_at_ms) == (ToolState.CLAIMED, None)
    assert tool.collateral.balance_mist == 0


@pytest.mark.usefixtures("added")
async def test_a_cancelled_unregistration_makes_the_tool_active_again(registry):
    await registry.unregister(ADD)
    await registry.cancel_unregister(ADD)
    assert (await registry.get(ADD)).is_active


@pytest.mark.usefixtures("added")
async def test_a_tool_comes_back_under_terms_to_which_its_owner_consents_alone(
    registry, admins, chain
):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    await admins.configure(replace(await registry.settings(), unregister_delay_ms=2 * DAY))
    with pytest.raises(NotNowError) as caught:
        await registry.re_register(ADD, max_delay_ms=DAY)
    assert caught.value.code == "delay_too_long"
    with pytest.raises(ValidationError) as caught:
        await registry.re_register(ADD, collateral_mist=SUI - 1)
    assert caught.value.code == "collateral_too_small"
    await registry.re_register(ADD, collateral_mist=3 * SUI, max_delay_ms=2 * DAY)
    collateral = (await registry.get(ADD)).collateral
    assert (collateral.required_mist, collateral.delay_ms) == (3 * SUI, 2 * DAY)


@pytest.mark.usefixtures("added")
async def test_a_claimed_tool_comes_back_with_new_collateral(registry, chain):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    await registry.re_register(ADD)
    tool = await registry.get(ADD)
    assert tool.is_active
    assert tool.collateral.balance_mist == SUI


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        ("cancel_unregister", "not_unregistered"),
        ("claim", "not_unregistered"),
        ("re_register", "not_claimed"),
        ("top_up", "nothing_to_top_up"),
    ],
)
@pytest.mark.usefixtures("added")
async def test_verbs_that_do_not_fit_an_active_tool_are_refused_in_words(registry, verb, code):
    with pytest.raises(NotNowError) as caught:
        await getattr(registry, verb)(ADD)
    assert caught.value.code == code


@pytest.mark.parametrize("verb", ["unregister", "claim", "top_up"])
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
    assert caught.value.code == "already_unregistered"
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


@pytest.mark.usefixtures("priced_tool")
async def test_the_owner_updates_everything_that_may_change_at_once(registry, user):
    await registry.add_key(ADD, KEY)
    sent = await registry.update(
        ADD,
        url="https://new.example.com",
        timeout_ms=7_000,
        price_mist=900,
        description="Adds ünicode.",
        payout=user.address,
        min_outcome_bytes=40,
        requires_signed_outcome=True,
    )
    assert [event.type.name for event in sent.events] == ["ToolUpdated"] * 7
    tool = await registry.get(ADD)
    assert tool.definition.url == "https://new.example.com"
    assert tool.definition.timeout_ms == 7_000
    assert tool.definition.description == "Adds ünicode."
    assert (tool.price_mist, tool.payout) == (900, user.address)
    assert (tool.min_outcome_bytes, tool.requires_signed_outcome) == (40, True)
    assert tool.revision == 7


@pytest.mark.usefixtures("priced_tool")
async def test_an_operator_runs_the_tool_and_decides_nothing_else(registry, strangers, user):
    await registry.add_operator(ADD, user.address)
    url = "https://operated.example.com"
    await strangers.update(ADD, url=url, timeout_ms=8_000, price_mist=1, min_outcome_bytes=2)
    tool = await registry.get(ADD)
    assert tool.operators.entries == (user.address,)
    assert (tool.definition.url, tool.definition.timeout_ms) == (url, 8_000)
    assert (tool.price_mist, tool.min_outcome_bytes) == (1, 2)
    of_the_owner = {"description": "mine", "payout": user.address, "requires_signed_outcome": False}
    for name, value in of_the_owner.items():
        with pytest.raises(NotAllowedError) as caught:
            await strangers.update(ADD, price_mist=2, **{name: value})
        assert caught.value.code == "not_owner"
    assert (await registry.get(ADD)).price_mist == 1


@pytest.mark.usefixtures("added")
async def test_an_operator_that_was_removed_is_none(registry, strangers, user):
    await registry.add_operator(ADD, user.address)
    with pytest.raises(ValidationError) as caught:
        await registry.add_operator(ADD, user.address)
    assert caught.value.code == "already_listed"
    await registry.remove_operator(ADD, user.address)
    with pytest.raises(NotAllowedError, match="tool operators add") as caught:
        await strangers.update(ADD, url="https://mine.example.com")
    assert caught.value.code == "not_operator"
    with pytest.raises(NotFoundError) as caught:
        await registry.remove_operator(ADD, user.address)
    assert caught.value.code == "not_listed"


async def test_what_is_not_given_stays_as_it_is(registry, priced_tool):
    await registry.update(ADD, price_mist=0)
    assert await registry.get(ADD) == replace(priced_tool, price_mist=0, revision=1)


@pytest.mark.usefixtures("added")
async def test_an_update_without_a_change_is_refused(registry):
    with pytest.raises(UsageError) as caught:
        await registry.update(ADD)
    assert caught.value.code == "nothing_to_update"


async def test_an_update_to_what_is_no_definition_is_refused(registry, priced_tool):
    with pytest.raises(ValidationError) as caught:
        await registry.update(ADD, price_mist=1, url="ftp://tools.example.com")
    assert caught.value.code == "definition_invalid"
    assert await registry.get(ADD) == priced_tool


# --- Leaders and keys


async def test_a_tool_with_a_price_is_not_open_to_all(registry, priced_tool):
    with pytest.raises(ValidationError) as caught:
        await registry.open_to_all(ADD)
    assert caught.value.code == "open_to_all"
    await registry.update(ADD, price_mist=0)
    await registry.open_to_all(ADD)
    assert (await registry.get(ADD)).leaders.entries == ()
    with pytest.raises(ValidationError) as caught:
        await registry.update(ADD, price_mist=1)
    assert caught.value.code == "open_to_all"


async def test_an_open_tool_accepts_any_leader_until_it_lists_one(registry, added, active_leader):
    stranger = Address.of(0xDEAD)
    assert (await registry.get(ADD)).accepts(stranger)
    await registry.add_leader(ADD, active_leader)
    tool = await registry.get(ADD)
    assert (tool.accepts(active_leader), tool.accepts(stranger)) == (True, False)


async def test_a_tool_whose_last_leader_was_removed_accepts_none(
    registry, priced_tool, active_leader
):
    await registry.remove_leader(ADD, active_leader)
    tool = await registry.get(ADD)
    assert (tool.open, tool.accepts(active_leader)) == (False, False)


@pytest.mark.usefixtures("added")
async def test_an_operator_removes_leaders_and_adds_none(registry, strangers, user, leaders):
    trusted = [(await leaders.register(name))[1] for name in ("first", "second")]
    for each in trusted:
        await registry.add_leader(ADD, each)
    with pytest.raises(NotAllowedError) as caught:
        await strangers.remove_leader(ADD, trusted[0])
    assert caught.value.code == "not_operator"
    await registry.add_operator(ADD, user.address)
    await strangers.remove_leader(ADD, trusted[0])
    with pytest.raises(NotAllowedError) as caught:
        await strangers.add_leader(ADD, trusted[0])
    assert caught.value.code == "not_owner"
    assert (await registry.get(ADD)).leaders.entries == (trusted[1],)


@pytest.mark.usefixtures("added")
async def test_a_tool_lists_no_leader_that_there_is_not(registry, chain, define):
    """The id of the next leader is known before: whoever registers it would be listed."""
    later = leader_id(chain.deployment.leader_registry, 0)
    with pytest.raises(NotFoundError) as caught:
        await registry.add_leader(ADD, later)
    assert caught.value.code == "unknown_leader"
    another = Registration(define("xyz.example.math.add@2"), leaders=(later,))
    with pytest.raises(NotFoundError) as caught:
        await registry.register(another)
    assert caught.value.code == "unknown_leader"


@pytest.mark.usefixtures("added")
async def test_a_key_with_which_anybody_signs_is_not_added(registry, define):
    """y = 0 and y = 1 in little endian: points of order 4 and 1."""
    for weak in (bytes(32), b"\x01" + bytes(31)):
        with pytest.raises(ValidationError, match="small order") as caught:
            await registry.add_key(ADD, weak)
        assert caught.value.code == "public_key_invalid"
        with pytest.raises(ValidationError) as caught:
            await registry.register(Registration(define("xyz.example.math.add@2"), keys=(weak,)))
        assert caught.value.code == "public_key_invalid"


@pytest.mark.usefixtures("added")
async def test_a_tool_has_four_keys_at_most_each_of_them_once(registry):
    for number in range(1, 5):
        await registry.add_key(ADD, bytes([number]) * 32)
    with pytest.raises(ValidationError) as caught:
        await registry.add_key(ADD, KEY)
    assert caught.value.code == "too_many_keys"
    await registry.remove_key(ADD, b"\x01" * 32)
    with pytest.raises(ValidationError) as caught:
        await registry.add_key(ADD, b"\x02" * 32)
    assert caught.value.code == "key_taken"
    with pytest.raises(ValidationError) as caught:
        await registry.add_key(ADD, bytes(31))
    assert caught.value.code == "invalid_key"
    await registry.add_key(ADD, KEY)
    assert (await registry.get(ADD)).keys.keys[-1] == KEY


@pytest.mark.usefixtures("added")
async def test_a_key_that_there_is_not_cannot_be_removed(registry):
    with pytest.raises(NotFoundError) as caught:
        await registry.remove_key(ADD, KEY)
    assert caught.value.code == "unknown_key"


@pytest.mark.usefixtures("added")
async def test_answers_are_signed_only_where_there_is_a_key(registry):
    with pytest.raises(ValidationError, match="it has no key") as caught:
        await registry.update(ADD, requires_signed_outcome=True)
    assert caught.value.code == "key_needed"


@pytest.mark.usefixtures("added")
async def test_lists_are_no_terms_of_an_invocation_and_leave_the_revision(
    registry, user, active_leader
):
    await registry.add_key(ADD, KEY)
    await registry.add_operator(ADD, user.address)
    await registry.add_leader(ADD, active_leader)
    assert (await registry.get(ADD)).revision == 0


# --- Admin


@pytest.mark.usefixtures("added")
async def test_a_slash_is_executed_after_three_days_and_burns_what_it_takes(
    registry, admins, admin, chain
):
    proposed = await admins.propose_slash(ADD, SUI // 4, "it lies", EVIDENCE)
    slash = (await registry.get(ADD)).collateral.pending_slash(await admin.now_ms())
    assert (slash.amount_mist, slash.reason, slash.evidence) == (SUI // 4, "it lies", EVIDENCE)
    event = admins.emitted(proposed, SlashProposed)
    assert (slash.due_at_ms, slash.void_at_ms) == (event.due_at_ms, event.void_at_ms)
    with pytest.raises(NotNowError, match="possible from") as caught:
        await admins.execute_slash(ADD)
    assert caught.value.code == "not_due"
    chain.net.advance_clock(3 * DAY)
    before = await admin.balance(admin.address)
    sent = await admins.execute_slash(ADD)
    assert await admin.balance(admin.address) == before - sent.cost.net
    assert await admin.balance(Address.of(0)) == SUI // 4
    tool = await registry.get(ADD)
    assert tool.state is ToolState.SUSPENDED
    assert tool.collateral.shortfall_mist == SUI // 4
    await registry.top_up(ADD)
    assert (await registry.get(ADD)).is_active


@pytest.mark.usefixtures("added")
async def test_a_pending_slash_holds_back_its_amount_alone(registry, admins, owner, chain):
    await registry.unregister(ADD)
    chain.net.advance_clock(6 * DAY)
    await admins.propose_slash(ADD, SUI // 4, "it lies", EVIDENCE)
    chain.net.advance_clock(DAY)
    before = await owner.balance(owner.address)
    sent = await registry.claim(ADD)
    assert await owner.balance(owner.address) == before + 3 * SUI // 4 - sent.cost.net
    await admins.cancel_slash(ADD)
    await registry.claim(ADD)
    assert (await registry.get(ADD)).state is ToolState.CLAIMED


@pytest.mark.usefixtures("added")
async def test_a_void_slash_is_not_pending(registry, admins, admin, chain):
    await admins.propose_slash(ADD, SUI // 4, "it lies", EVIDENCE)
    chain.net.advance_clock(4 * DAY)
    assert (await registry.get(ADD)).collateral.pending_slash(await admin.now_ms()) is None
    with pytest.raises(NotNowError) as caught:
        await admins.execute_slash(ADD)
    assert caught.value.code == "no_slash_pending"


async def test_more_collateral_allows_a_higher_price(registry, define, active_leader):
    leaders = (active_leader,)
    dear = Registration(define(), price_mist=SUI, leaders=leaders)
    with pytest.raises(ValidationError) as caught:
        await registry.register(dear)
    assert caught.value.code == "price_too_high"
    await registry.register(dataclasses.replace(dear, collateral_mist=2 * SUI))
    assert (await registry.get(ADD)).collateral.required_mist == 2 * SUI
    with pytest.raises(ValidationError) as caught:
        await registry.update(ADD, price_mist=SUI + 1)
    assert caught.value.code == "price_too_high"


async def test_too_little_collateral_is_refused(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(), collateral_mist=SUI - 1))
    assert caught.value.code == "collateral_too_small"


@pytest.mark.usefixtures("priced_tool")
async def test_a_dear_tool_comes_back_with_the_collateral_that_its_price_needs(registry, chain):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    await registry.update(ADD, price_mist=SUI)
    await registry.re_register(ADD)
    assert (await registry.get(ADD)).collateral.required_mist == 2 * SUI


@pytest.mark.usefixtures("added")
async def test_a_registry_that_accepts_nothing_lets_tools_out(registry, admins, define, chain):
    await admins.configure(replace(await admins.settings(), accepting=False))
    with pytest.raises(NotNowError) as caught:
        await registry.register(Registration(define("xyz.example.math.add@2")))
    assert caught.value.code == "not_accepting"
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)


@pytest.mark.usefixtures("added")
async def test_new_settings_bind_new_tools_alone(registry, admins, define):
    settings = replace(await admins.settings(), collateral_mist=3 * SUI, unregister_delay_ms=DAY)
    await admins.configure(settings)
    assert await registry.settings() == settings
    await registry.register(Registration(define("xyz.example.math.add@2")))
    old, new = await registry.list()
    assert (old.collateral.required_mist, old.collateral.delay_ms) == (SUI, 7 * DAY)
    assert (new.collateral.required_mist, new.collateral.delay_ms) == (3 * SUI, DAY)


@pytest.mark.parametrize("verb", ["propose_slash", "execute_slash", "cancel_slash", "configure"])
@pytest.mark.usefixtures("added")
async def test_who_is_not_the_admin_is_told_who_is(strangers, admin, verb):
    terms = {
        "propose_slash": (ADD, 1, "envy", EVIDENCE),
        "configure": (await strangers.settings(),),
    }
    with pytest.raises(NotAllowedError) as caught:
        await getattr(strangers, verb)(*terms.get(verb, (ADD,)))
    assert caught.value.code == "not_admin"
    assert str(admin.address) in caught.value.message
