"""Attacks by a leader: fees without work, two fees for one invocation, or another leader's fee."""

import asyncio

import pytest

from nexus_tools.contracts.move_bindings import invocation as calls
from nexus_tools.registry import add_outcome, read_histories
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature, SigningKey
from nexus_tools.tool.signing.signed_outcome import outcome_message


async def test_leader_cannot_earn_more_by_failing_immediately(parties, tool, active_leader, told):
    """Law 1: settling earns most. `test_fees` covers all batches."""
    async with parties.round() as failing:
        invocation = await parties.request(tool)
        await parties.fail(active_leader, invocation)
        await parties.invocations().delete(invocation)
    async with parties.round() as settling:
        await parties.settle(active_leader, await parties.request(tool))
    assert 0 <= failing["leader"] < settling["leader"]
    # The gas of two transactions and the fee for failing, but never the price.
    assert -failing["user"] < 2_060_000 + 1_460_000
    told(failing["leader"] - settling["leader"], -failing["user"], "the requester")


async def test_leader_cannot_earn_by_a_long_detail(parties, tool, active_leader, told, refused):
    invocation, other = await parties.request(tool), await parties.request(tool)
    with refused("detail_too_long"):
        await parties.invocations("leader").close(
            active_leader, {invocation: Failure(FailureReason.UNREACHABLE, "x" * 201)}
        )
    async with parties.round() as padded:
        await parties.invocations("leader").close(
            active_leader, {invocation: Failure(FailureReason.UNREACHABLE, "x" * 200)}
        )
    async with parties.round() as bare:
        await parties.fail(active_leader, other)
    assert padded["leader"] <= bare["leader"]
    told(padded["leader"] - bare["leader"])


async def test_leader_cannot_gain_by_doing_nothing(parties, tool, active_leader, told):
    async with parties.round() as played:
        invocation = await parties.request(tool)
        parties.pass_windows()
        await parties.invocations().delete(
            invocation
        )  # it expires first, so everything is refunded
    assert played["leader"] == played["owner"] == 0
    gas_of_two_transactions = 3_000_000
    assert -gas_of_two_transactions < played["user"] < 0
    told(0, -played["user"], "the requester")


async def test_leader_cannot_get_two_fees_for_one_invocation(parties, tool, active_leader, attack):
    invocation = await parties.request(tool)
    await parties.settle(active_leader, invocation)
    async with attack("leader") as played:
        again = await parties.settle(active_leader, invocation)
        await parties.fail(active_leader, invocation)
    assert again.events == ()
    assert played["leader"] < 0  # the gas of both
    assert played["owner"] == played["user"] == 0


async def test_leader_cannot_settle_an_invocation_twice_in_a_transaction(
    parties, tool, active_leader, attack
):
    invocation, other = await parties.request(tool), await parties.request(tool)
    async with parties.round() as honest:
        await parties.settle(active_leader, other)
    builder = TransactionBuilder()
    for _ in range(2):
        add_outcome(builder, parties.chain.deployment, invocation, active_leader, parties.ANSWER)
    async with attack("leader", honest.gained) as played:
        await parties.invocations("leader").send(builder)
    assert played["owner"] == tool.price_mist
    assert played["leader"] <= honest["leader"]


async def test_leader_cannot_close_an_invocation_that_does_not_name_it(
    parties, tool, attack, refused
):
    invocation = await parties.request(tool)
    other = await parties.register_leader("stranger", "other")
    async with attack("stranger"):
        with refused("not_responsible"):
            await parties.settle(other, invocation, party="stranger")


async def test_another_account_cannot_close_for_the_leader(
    parties, tool, active_leader, attack, refused
):
    invocation = await parties.request(tool)
    async with attack("admin"):
        with refused("not_worker"):
            await parties.settle(active_leader, invocation, party="admin")


async def test_removed_worker_cannot_earn(parties, tool, active_leader, attack, refused):
    leaders = parties.leaders()
    await leaders.add_worker(active_leader, parties.address("admin"))
    invocation = await parties.request(tool)
    await leaders.remove_worker(active_leader, parties.address("admin"))
    async with attack("admin"):
        with refused("not_worker"):
            await parties.settle(active_leader, invocation, party="admin")


async def test_worker_cannot_take_over_the_leader(parties, active_leader, attack, refused):
    """Its key is on a server. A thief of the key can close invocations, and nothing else."""
    await parties.leaders().add_worker(active_leader, parties.address("admin"))
    thief, address = parties.leaders("admin"), parties.address("admin")
    async with attack("admin"):
        for attempt in (
            thief.unregister(active_leader),
            thief.deactivate(active_leader),
            thief.offer(active_leader, address),
            thief.add_worker(active_leader, parties.address("user")),
            thief.add_key(active_leader, bytes(32)),
        ):
            with refused("not_owner"):
                await attempt
        with refused("not_offered"):
            await thief.accept(active_leader)


async def test_backup_cannot_close_during_the_first_leaders_window(
    parties, define, active_leader, attack, refused
):
    backup = await parties.register_leader("admin", "backup")
    tool = await parties.register_tool(define(), active_leader, backup)
    invocation = await parties.request(tool, leaders=[active_leader, backup])
    with refused("too_early"):
        await parties.settle(backup, invocation, party="admin")
    async with attack("admin") as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] > 0


async def test_late_leader_cannot_take_the_fee_of_its_backup(
    parties, define, active_leader, attack
):
    backup = await parties.register_leader("admin", "backup")
    tool = await parties.register_tool(define(), active_leader, backup)
    invocation = await parties.request(tool, leaders=[active_leader, backup])
    parties.pass_time(20_001)
    await parties.settle(backup, invocation, party="admin")
    async with attack("leader") as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] < 0
    assert played["admin"] == 0


async def test_leader_cannot_settle_after_all_windows(parties, tool, active_leader, attack):
    invocation = await parties.request(tool)
    parties.pass_windows()
    async with attack("leader") as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] < 0
    assert played["owner"] == 0


async def test_batch_settles_without_invocations_closed_in_the_meantime(
    parties, tool, active_leader, attack
):
    """The transaction skips them and does not fail."""
    invocations = [await parties.request(tool) for _ in range(5)]
    async with parties.round() as honest:
        await parties.settle(active_leader, *invocations[3:])
    await parties.fail(active_leader, invocations[1])
    async with attack("leader", honest.gained) as played:
        await parties.settle(active_leader, *invocations[:3])
    assert played["owner"] == 2 * tool.price_mist
    assert 0 < played["leader"] < honest["leader"]


async def test_leader_is_not_paid_for_a_padded_answer(
    parties, define, active_leader, told, refused
):
    """A byte of an answer pays its storage, and at most the bytes that the requester allowed."""
    tool = await parties.register_tool(define(), active_leader)
    small, large = await parties.request(tool), await parties.request(tool)
    invocations = parties.invocations("leader")
    async with parties.round() as lean:
        await invocations.close(active_leader, {small: parties.ANSWER})
    padded = Answer("ok", {"result": 42, "padding": "x" * 3_000})
    async with parties.round() as fat:
        await invocations.close(active_leader, {large: padded})
    assert fat["leader"] - lean["leader"] < 3_000 * 7_600 * 5 // 100
    with refused("outcome_too_large"):
        await invocations.close(
            active_leader,
            {await parties.request(tool): Answer("ok", {"padding": "x" * 5_000})},
        )
    told(
        fat["leader"] - lean["leader"], lean["user"] - fat["user"], "the requester, who allowed it"
    )


async def test_leader_cannot_invent_an_answer(parties, define, active_leader, attack, refused):
    tool = await parties.register_tool(
        define(), active_leader, keys=(bytes(31) + b"\x01",), requires_signed_outcome=True
    )
    invocation = await parties.request(tool)
    async with attack("leader") as played:
        with refused("signature_or_call_required"):
            await parties.settle(active_leader, invocation)
    assert played["owner"] == 0


async def test_suspended_leader_cannot_earn(parties, tool, active_leader, attack, refused):
    invocation = await parties.request(tool)
    admins = parties.leaders("admin")
    await admins.propose_slash(active_leader, 1_000_000_000, "false failures", bytes(32))
    parties.pass_time(3 * 86_400_000)
    await admins.execute_slash(active_leader)
    async with attack("leader"):
        with refused("leader_suspended"):
            await parties.settle(active_leader, invocation)


async def test_leader_cannot_leave_before_its_invocations_are_closed(
    parties, tool, active_leader, attack, refused
):
    """The shortest delay is an hour; the two longest windows are six minutes."""
    invocation, other = await parties.request(tool), await parties.request(tool)
    await parties.leaders().unregister(active_leader)
    async with parties.round() as honest:
        await parties.settle(active_leader, other)
    async with attack("leader", honest.gained) as played:
        with refused("delay_not_over"):
            await parties.leaders().claim(active_leader)
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist


async def test_leader_cannot_list_itself(parties, define, active_leader, attack, refused):
    tool = await parties.register_tool(define(), active_leader)
    other = await parties.register_leader("admin", "other")
    async with attack("admin"):
        with refused("not_owner"):
            await parties.tools("admin").add_leader(tool.fqn, other)


async def test_only_named_leaders_close_invocations_of_a_free_tool(
    parties, define, active_leader, attack, refused
):
    """With an empty list any leader may be named, but only named leaders close."""
    tool = await parties.register_tool(define(), price_mist=0)
    other = await parties.register_leader("admin", "other")
    invocation = await parties.request(tool, leaders=[active_leader])
    async with attack("admin"):
        with refused("not_responsible"):
            await parties.fail(other, invocation, party="admin")


async def test_leader_cannot_take_a_fee_for_an_expired_invocation(
    parties, tool, active_leader, attack, refused
):
    invocation = await parties.request(tool)
    with refused("not_expired"):
        await parties.invocations("leader").call(calls.expire, invocation)
    parties.pass_windows()
    async with attack("leader") as played:
        await parties.invocations("leader").call(calls.expire, invocation)
    assert played["leader"] < 0
    assert played["user"] > 0  # the whole prepayment


@pytest.mark.parametrize(
    "reason", [failure_reason for failure_reason in FailureReason if failure_reason != "expired"]
)
async def test_reporting_a_failure_does_not_cost_more_than_silence(
    parties, tool, active_leader, attack, reason
):
    """The fee covers a single failure with any reason and a detail of 200 bytes."""
    await parties.fail(active_leader, await parties.request(tool))  # its address balance exists
    said, silent = await parties.request(tool), await parties.request(tool)
    async with parties.round() as honest:
        await parties.invocations("leader").close(active_leader, {said: Failure(reason, "x" * 200)})
    assert honest["leader"] >= 0
    async with attack("leader", {"leader": honest["leader"]}):
        parties.pass_windows()
        await parties.invocations("stranger").expire(silent)


async def test_two_workers_are_not_paid_for_one_invocation(parties, tool, active_leader, attack):
    """They run in parallel, without an object that only one of them could use at a time."""
    await parties.leaders().add_worker(active_leader, parties.address("stranger"))
    both, others = [[await parties.request(tool) for _ in range(2)] for _ in range(2)]
    async with parties.round() as honest:
        await parties.settle(active_leader, *others)
    async with attack("leader", {"leader": honest["leader"]}) as played:
        await asyncio.gather(
            parties.settle(active_leader, *both),
            parties.settle(active_leader, *both, party="stranger"),
        )
    assert played["owner"] == 2 * tool.price_mist
    assert min(played["leader"], played["stranger"]) < 0 < max(played["leader"], played["stranger"])


async def test_leader_cannot_make_the_other_named_leader_lose_more_than_gas(
    parties, define, active_leader, attack
):
    """The loser of a race pays only the gas of its transaction."""
    backup = await parties.register_leader("stranger", "backup")
    tool = await parties.register_tool(define(), active_leader, backup)
    await parties.honest(tool, active_leader)
    honest = await parties.honest(tool, active_leader)
    raced = await parties.request(tool, leaders=[active_leader, backup])
    parties.pass_time(20_001)
    async with attack("leader", {"leader": honest["leader"]}) as played:
        await parties.settle(active_leader, raced)
        await parties.settle(backup, raced, party="stranger")
    assert -1_100_000 < played["stranger"] < 0
    assert played["leader"] <= honest["leader"]


# --- Answers that are not the tool's


@pytest.fixture
async def signing_tool(parties, define, active_leader):
    """Return a tool that requires signed answers, and its key."""
    key = SigningKey.new()
    terms = {"keys": (key.public_key,), "requires_signed_outcome": True}
    return await parties.register_tool(define(), active_leader, **terms), key


def sign_answer(key, invocation, inputs, answer):
    signature = key.private.sign(outcome_message(bytes(invocation), inputs, answer))
    return Answer(answer.variant, answer.ports, OutcomeSignature(key.public_key, signature))


async def test_leader_cannot_settle_with_the_answer_of_another_invocation(
    parties, signing_tool, active_leader, attack, refused
):
    """The tool signs the question that it received, and the chain knows the right question."""
    tool, key = signing_tool
    invocation = await parties.request(tool)
    answer = sign_answer(key, invocation, {"a": 1, "b": 1}, parties.ANSWER)
    async with attack("leader"):
        with refused("invalid_signature"):
            await parties.invocations("leader").close(active_leader, {invocation: answer})


async def test_leader_cannot_settle_twice_with_one_answer(
    parties, signing_tool, active_leader, attack, refused
):
    """The question of the other invocation is the same."""
    tool, key = signing_tool
    first, second = await parties.request(tool), await parties.request(tool)
    answer = sign_answer(key, first, parties.INPUTS, parties.ANSWER)
    invocations = parties.invocations("leader")
    await invocations.close(active_leader, {first: answer})
    async with attack("leader"):
        with refused("invalid_signature"):
            await invocations.close(active_leader, {second: answer})


async def test_leader_cannot_change_an_answer(
    parties, signing_tool, active_leader, attack, refused
):
    tool, key = signing_tool
    invocation = await parties.request(tool)
    answer = sign_answer(key, invocation, parties.INPUTS, parties.ANSWER)
    changed = Answer("ok", {"result": 43}, answer.signature)
    async with attack("leader"):
        with refused("invalid_signature"):
            await parties.invocations("leader").close(active_leader, {invocation: changed})


async def test_leader_cannot_sign_an_answer_itself(
    parties, signing_tool, active_leader, attack, refused
):
    tool, _ = signing_tool
    invocation = await parties.request(tool)
    answer = sign_answer(SigningKey.new(), invocation, parties.INPUTS, parties.ANSWER)
    async with attack("leader"):
        with refused("wrong_key"):
            await parties.invocations("leader").close(active_leader, {invocation: answer})


async def test_limitation_leader_can_invent_an_answer_of_an_unsigned_tool(
    parties, tool, active_leader, attack
):
    """The limit of law 1: it earns as much as an honest one, and the requester loses the price."""
    await parties.honest(tool, active_leader)
    honest = await parties.honest(tool, active_leader)
    invented = Answer("ok", {"result": 13})
    async with attack("leader", {"leader": honest["leader"]}) as played:
        invocation = await parties.request(tool)
        await parties.invocations("leader").close(active_leader, {invocation: invented})
    assert played["leader"] == honest["leader"]
    assert played["owner"] == tool.price_mist


async def test_limitation_leader_can_fail_an_invocation_that_has_an_answer(
    parties, tool, active_leader, attack
):
    """It loses by that. The requester loses a fee and gas, less than the leader could earn."""
    await parties.honest(tool, active_leader)
    honest = await parties.honest(tool, active_leader)
    async with attack("leader", {"leader": honest["leader"]}) as played:
        invocation = await parties.request(tool)
        await parties.fail(active_leader, invocation)
        await parties.invocations().delete(invocation)
    assert 0 <= played["leader"] < honest["leader"]
    assert played["owner"] == 0
    assert -played["user"] < 3_600_000


# --- Records and slashes


async def test_bought_track_record_counts_once_per_tool(parties, active_leader, define, attack):
    """Calls cost only gas, because prices and fees stay with the attacker. A tool counts once."""
    fqn = "xyz.example.own.tool@1"
    owner = parties.tools("leader")
    await owner.register(define(fqn))
    own, invocations = await owner.get(fqn), parties.invocations("leader")
    async with attack("leader") as played:
        for _ in range(16):
            _, place = await invocations.request(own, parties.INPUTS, leaders=[active_leader])
            await parties.settle(active_leader, place)
            await invocations.delete(place)
    found = await parties.leaders().get(active_leader)
    record = (await read_histories(invocations, [found])).records[active_leader]
    assert (record.settled, record.reliability) == (1, pytest.approx(5 / 9))
    assert -16 * 3_500_000 < played["leader"] < 0


async def test_suspended_leader_is_not_immune_after_a_top_up(
    parties, active_leader, attack, refused
):
    """It loses half. After a top-up the collateral is complete and may be slashed again."""
    admins, leaders = parties.leaders("admin"), parties.leaders()
    half = 5_000_000_000
    async with attack("leader", {"leader": -2 * half}):
        for _ in range(2):
            await admins.propose_slash(active_leader, half, "false failures", bytes(32))
            parties.pass_time(3 * 86_400_000)
            await admins.execute_slash(active_leader)
            with refused("slash_too_large"):
                await admins.propose_slash(active_leader, 1, "once more", bytes(32))
            await leaders.top_up(active_leader)
    assert (await leaders.get(active_leader)).collateral.is_sufficient


async def test_seller_cannot_keep_a_worker_of_a_sold_leader(
    parties, tool, active_leader, attack, refused
):
    """This includes a worker that it adds after the buyer's check."""
    invocation = await parties.request(tool)
    await parties.leaders().offer(active_leader, parties.address("stranger"))
    await parties.leaders().add_worker(active_leader, parties.address("admin"))
    await parties.leaders("stranger").accept(active_leader)
    async with attack("leader"):
        for former in ("leader", "admin"):
            with refused("not_worker"):
                await parties.settle(active_leader, invocation, party=former)
