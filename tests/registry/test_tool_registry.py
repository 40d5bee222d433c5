import dataclasses

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import ToolState, leader_id
from nexus_tools.contracts.move_bindings.collateral import SlashProposed
from nexus_tools.errors import (
    NotAllowedError,
    NotFoundError,
    UsageError,
    ValidationError,
    WrongStateError,
)
from nexus_tools.registry import Registration
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

SUI = 1_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR
ADD = ToolFqn.parse("xyz.example.math.add@1")
EVIDENCE = KEY = bytes(range(32))


# --- Unregistration


@pytest.mark.usefixtures("added")
async def test_claim_pays_collateral_only_after_the_delay(registry, owner, chain):
    await registry.unregister(ADD)
    tool = await registry.get(ADD)
    assert tool.state is ToolState.UNREGISTERED
    now = await owner.now_ms()
    assert now <= tool.claimable_at_ms <= now + 7 * DAY
    chain.net.advance_clock(HOUR // 2)
    with pytest.raises(WrongStateError) as caught:
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
async def test_cancel_unregister_reactivates_tool(registry):
    await registry.unregister(ADD)
    await registry.cancel_unregister(ADD)
    assert (await registry.get(ADD)).is_active


@pytest.mark.usefixtures("added")
async def test_re_register_fails_for_longer_delay_than_accepted(registry, admins, chain):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    await admins.configure(replace(await registry.settings(), unregister_delay_ms=2 * DAY))
    with pytest.raises(WrongStateError) as caught:
        await registry.re_register(ADD, max_delay_ms=DAY)
    assert caught.value.code == "delay_too_long"
    with pytest.raises(ValidationError) as caught:
        await registry.re_register(ADD, collateral_mist=SUI - 1)
    assert caught.value.code == "collateral_too_small"
    await registry.re_register(ADD, collateral_mist=3 * SUI, max_delay_ms=2 * DAY)
    collateral = (await registry.get(ADD)).collateral
    assert (collateral.required_mist, collateral.delay_ms) == (3 * SUI, 2 * DAY)


@pytest.mark.usefixtures("added")
async def test_re_register_locks_new_collateral(registry, chain):
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
async def test_methods_fail_with_message_for_active_tool(registry, verb, code):
    with pytest.raises(WrongStateError) as caught:
        await getattr(registry, verb)(ADD)
    assert caught.value.code == code


@pytest.mark.parametrize("verb", ["unregister", "claim", "top_up"])
@pytest.mark.usefixtures("added")
async def test_methods_fail_with_message_for_claimed_tool(registry, chain, verb):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    with pytest.raises(WrongStateError) as caught:
        await getattr(registry, verb)(ADD)
    assert caught.value.code == "already_claimed"


@pytest.mark.usefixtures("added")
async def test_second_unregister_reports_time_of_claim(registry):
    await registry.unregister(ADD)
    with pytest.raises(WrongStateError) as caught:
        await registry.unregister(ADD)
    assert caught.value.code == "already_unregistered"
    assert "claimable at" in caught.value.message


@pytest.mark.parametrize(
    "verb", ["unregister", "cancel_unregister", "claim", "re_register", "top_up"]
)
@pytest.mark.usefixtures("added")
async def test_error_names_the_owner_of_the_tool(strangers, owner, verb):
    with pytest.raises(NotAllowedError) as caught:
        await getattr(strangers, verb)(ADD)
    assert caught.value.code == "not_owner"
    assert str(owner.address) in caught.value.message


# --- Updates


@pytest.mark.usefixtures("priced_tool")
async def test_owner_updates_all_fields_at_once(registry, user):
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
async def test_operator_updates_only_operational_fields(registry, strangers, user):
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
async def test_removed_operator_cannot_update(registry, strangers, user):
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


async def test_update_keeps_other_fields(registry, priced_tool):
    await registry.update(ADD, price_mist=0)
    assert await registry.get(ADD) == replace(priced_tool, price_mist=0, revision=1)


@pytest.mark.usefixtures("added")
async def test_update_fails_without_a_change(registry):
    with pytest.raises(UsageError) as caught:
        await registry.update(ADD)
    assert caught.value.code == "nothing_to_update"


async def test_update_fails_for_invalid_definition(registry, priced_tool):
    with pytest.raises(ValidationError) as caught:
        await registry.update(ADD, price_mist=1, url="ftp://tools.example.com")
    assert caught.value.code == "definition_invalid"
    assert await registry.get(ADD) == priced_tool


# --- Leaders and keys


async def test_open_to_all_fails_for_tool_with_price(registry, priced_tool):
    with pytest.raises(ValidationError) as caught:
        await registry.accept_any_leader(ADD)
    assert caught.value.code == "accepts_any_leader"
    await registry.update(ADD, price_mist=0)
    await registry.accept_any_leader(ADD)
    assert (await registry.get(ADD)).leaders.entries == ()
    with pytest.raises(ValidationError) as caught:
        await registry.update(ADD, price_mist=1)
    assert caught.value.code == "accepts_any_leader"


async def test_open_tool_accepts_any_leader_until_one_is_listed(registry, added, active_leader):
    stranger = Address.of(0xDEAD)
    assert (await registry.get(ADD)).accepts(stranger)
    await registry.add_leader(ADD, active_leader)
    tool = await registry.get(ADD)
    assert (tool.accepts(active_leader), tool.accepts(stranger)) == (True, False)


async def test_tool_without_listed_leaders_accepts_none(registry, priced_tool, active_leader):
    await registry.remove_leader(ADD, active_leader)
    tool = await registry.get(ADD)
    assert (tool.accepts_any_leader, tool.accepts(active_leader)) == (False, False)


@pytest.mark.usefixtures("added")
async def test_operator_removes_but_does_not_add_leaders(registry, strangers, user, leaders):
    trusted = [(await leaders.register(name))[1] for name in ("first", "second")]
    for trusted_id in trusted:
        await registry.add_leader(ADD, trusted_id)
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
async def test_add_leader_fails_for_unknown_leader(registry, chain, define):
    """The ID of the next leader is predictable, so its future owner could be listed."""
    later = leader_id(chain.deployment.leader_registry, 0)
    with pytest.raises(NotFoundError) as caught:
        await registry.add_leader(ADD, later)
    assert caught.value.code == "leader_unknown"
    another = Registration(define("xyz.example.math.add@2"), leaders=(later,))
    with pytest.raises(NotFoundError) as caught:
        await registry.register(another)
    assert caught.value.code == "leader_unknown"


@pytest.mark.usefixtures("added")
async def test_add_key_rejects_key_of_small_order(registry, define):
    """The keys are y = 0 and y = 1 in little endian: points of order 4 and 1."""
    for weak in (bytes(32), b"\x01" + bytes(31)):
        with pytest.raises(ValidationError, match="small order") as caught:
            await registry.add_key(ADD, weak)
        assert caught.value.code == "public_key_invalid"
        with pytest.raises(ValidationError) as caught:
            await registry.register(Registration(define("xyz.example.math.add@2"), keys=(weak,)))
        assert caught.value.code == "public_key_invalid"


@pytest.mark.usefixtures("added")
async def test_add_key_rejects_repeated_and_fifth_key(registry):
    for number in range(1, 5):
        await registry.add_key(ADD, bytes([number]) * 32)
    with pytest.raises(ValidationError) as caught:
        await registry.add_key(ADD, KEY)
    assert caught.value.code == "too_many_keys"
    await registry.remove_key(ADD, b"\x01" * 32)
    with pytest.raises(ValidationError) as caught:
        await registry.add_key(ADD, b"\x02" * 32)
    assert caught.value.code == "duplicate_key"
    with pytest.raises(ValidationError) as caught:
        await registry.add_key(ADD, bytes(31))
    assert caught.value.code == "invalid_key"
    await registry.add_key(ADD, KEY)
    assert (await registry.get(ADD)).keys.keys[-1] == KEY


@pytest.mark.usefixtures("added")
async def test_remove_key_fails_for_unknown_key(registry):
    with pytest.raises(NotFoundError) as caught:
        await registry.remove_key(ADD, KEY)
    assert caught.value.code == "unknown_key"


@pytest.mark.usefixtures("added")
async def test_update_fails_for_signed_answers_without_key(registry):
    with pytest.raises(ValidationError, match="but has no key") as caught:
        await registry.update(ADD, requires_signed_outcome=True)
    assert caught.value.code == "signing_key_missing"


@pytest.mark.usefixtures("added")
async def test_changed_lists_keep_the_revision(registry, user, active_leader):
    await registry.add_key(ADD, KEY)
    await registry.add_operator(ADD, user.address)
    await registry.add_leader(ADD, active_leader)
    assert (await registry.get(ADD)).revision == 0


# --- Admin


@pytest.mark.usefixtures("added")
async def test_execute_slash_burns_amount_after_three_days(registry, admins, admin, chain):
    proposed = await admins.propose_slash(ADD, SUI // 4, "it lies", EVIDENCE)
    slash = (await registry.get(ADD)).collateral.pending_slash(await admin.now_ms())
    assert (slash.amount_mist, slash.reason, slash.evidence_digest) == (
        SUI // 4,
        "it lies",
        EVIDENCE,
    )
    event = admins.emitted(proposed, SlashProposed)
    assert (slash.executable_at_ms, slash.expires_at_ms) == (
        event.executable_at_ms,
        event.expires_at_ms,
    )
    with pytest.raises(WrongStateError, match="possible from") as caught:
        await admins.execute_slash(ADD)
    assert caught.value.code == "slash_not_due"
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
async def test_pending_slash_locks_only_its_amount(registry, admins, owner, chain):
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
async def test_void_slash_is_not_pending(registry, admins, admin, chain):
    await admins.propose_slash(ADD, SUI // 4, "it lies", EVIDENCE)
    chain.net.advance_clock(4 * DAY)
    assert (await registry.get(ADD)).collateral.pending_slash(await admin.now_ms()) is None
    with pytest.raises(WrongStateError) as caught:
        await admins.execute_slash(ADD)
    assert caught.value.code == "no_slash_pending"


async def test_more_collateral_allows_higher_price(registry, define, active_leader):
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


async def test_re_register_fails_for_too_little_collateral(registry, define):
    with pytest.raises(ValidationError) as caught:
        await registry.register(Registration(define(), collateral_mist=SUI - 1))
    assert caught.value.code == "collateral_too_small"


@pytest.mark.usefixtures("priced_tool")
async def test_re_register_locks_collateral_for_high_price(registry, chain):
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)
    await registry.update(ADD, price_mist=SUI)
    await registry.re_register(ADD)
    assert (await registry.get(ADD)).collateral.required_mist == 2 * SUI


@pytest.mark.usefixtures("added")
async def test_tools_can_leave_a_registry_that_is_not_accepting(registry, admins, define, chain):
    await admins.configure(replace(await admins.settings(), accepting=False))
    with pytest.raises(WrongStateError) as caught:
        await registry.register(Registration(define("xyz.example.math.add@2")))
    assert caught.value.code == "not_accepting"
    await registry.unregister(ADD)
    chain.net.advance_clock(7 * DAY)
    await registry.claim(ADD)


@pytest.mark.usefixtures("added")
async def test_new_settings_apply_only_to_new_tools(registry, admins, define):
    settings = replace(await admins.settings(), collateral_mist=3 * SUI, unregister_delay_ms=DAY)
    await admins.configure(settings)
    assert await registry.settings() == settings
    await registry.register(Registration(define("xyz.example.math.add@2")))
    new, old = (await registry.list()).items
    assert (old.collateral.required_mist, old.collateral.delay_ms) == (SUI, 7 * DAY)
    assert (new.collateral.required_mist, new.collateral.delay_ms) == (3 * SUI, DAY)


@pytest.mark.parametrize("verb", ["propose_slash", "execute_slash", "cancel_slash", "configure"])
@pytest.mark.usefixtures("added")
async def test_error_names_the_admin(strangers, admin, verb):
    terms = {
        "propose_slash": (ADD, 1, "envy", EVIDENCE),
        "configure": (await strangers.settings(),),
    }
    with pytest.raises(NotAllowedError) as caught:
        await getattr(strangers, verb)(*terms.get(verb, (ADD,)))
    assert caught.value.code == "not_admin"
    assert str(admin.address) in caught.value.message
