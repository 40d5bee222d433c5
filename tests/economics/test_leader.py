"""What a leader may hope for: fees without work, two fees for one invocation, a fee of another."""

from nexus_tools.package.move import invocation as calls
from nexus_tools.tool import Answer, Failure, FailureReason


async def test_a_leader_hoped_to_earn_more_by_failing_at_once(parties, tool, active_leader, told):
    """Law 1: of all that it can do, to settle brings most; see `test_fees` for all batches."""
    async with parties.round() as failing:
        invocation = await parties.request(tool)
        await parties.fail(active_leader, invocation)
        await parties.invocations().delete(invocation)
    async with parties.round() as settling:
        await parties.settle(active_leader, await parties.request(tool))
    assert 0 <= failing["leader"] < settling["leader"]
    # Never the price: gas of two transactions and the fee for failing.
    assert -failing["user"] < 2_060_000 + 1_460_000
    told(failing["leader"] - settling["leader"], -failing["user"], "the requester")


async def test_a_leader_hoped_to_earn_by_a_long_detail(parties, tool, active_leader, told, refused):
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


async def test_a_leader_hoped_to_gain_by_doing_nothing(parties, tool, active_leader, told):
    async with parties.round() as played:
        invocation = await parties.request(tool)
        parties.pass_windows()
        await parties.invocations().delete(invocation)  # expires first: all comes back
    assert played["leader"] == played["owner"] == 0
    gas_of_two_transactions = 3_000_000
    assert -gas_of_two_transactions < played["user"] < 0
    told(0, -played["user"], "the requester")


async def test_a_leader_hoped_for_two_fees_of_one_invocation(parties, tool, active_leader, told):
    invocation = await parties.request(tool)
    await parties.settle(active_leader, invocation)
    async with parties.round() as played:
        again = await parties.settle(active_leader, invocation)
        await parties.fail(active_leader, invocation)
    assert again.events == ()
    assert played["leader"] < 0  # the gas of both
    assert played["owner"] == played["user"] == 0
    told(played["leader"])


async def test_a_leader_hoped_to_settle_one_invocation_twice_in_a_transaction(
    parties, tool, active_leader, told
):
    invocation = await parties.request(tool)
    async with parties.round() as played:
        await parties.settle(active_leader, invocation, invocation)
    assert played["owner"] == tool.price_mist
    told(0)


async def test_a_leader_hoped_to_close_what_does_not_name_it(parties, tool, told, refused):
    invocation = await parties.request(tool)
    other = await parties.register_leader("admin", "other")
    async with parties.round() as played:
        with refused("not_responsible"):
            await parties.settle(other, invocation, party="admin")
    told(played["admin"])


async def test_a_stranger_hoped_to_close_in_the_name_of_the_leader(
    parties, tool, active_leader, told, refused
):
    invocation = await parties.request(tool)
    async with parties.round() as played:
        with refused("not_worker"):
            await parties.settle(active_leader, invocation, party="admin")
    told(played["admin"])


async def test_a_worker_that_was_dismissed_hoped_to_earn_on(
    parties, tool, active_leader, told, refused
):
    leaders = parties.leaders()
    await leaders.add_worker(active_leader, parties.address("admin"))
    invocation = await parties.request(tool)
    await leaders.remove_worker(active_leader, parties.address("admin"))
    async with parties.round() as played:
        with refused("not_worker"):
            await parties.settle(active_leader, invocation, party="admin")
    told(played["admin"])


async def test_a_worker_hoped_to_take_over_the_leader(parties, active_leader, told, refused):
    """Its key lies on a machine: whoever steals it closes invocations, and nothing else."""
    await parties.leaders().add_worker(active_leader, parties.address("admin"))
    thief, address = parties.leaders("admin"), parties.address("admin")
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
    told(0)


async def test_a_backup_hoped_to_be_faster_than_the_first_leader(
    parties, define, active_leader, told, refused
):
    backup = await parties.register_leader("admin", "backup")
    tool = await parties.register_tool(define(), active_leader, backup)
    invocation = await parties.request(tool, leaders=[active_leader, backup])
    with refused("too_early"):
        await parties.settle(backup, invocation, party="admin")
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] > 0
    told(0)


async def test_a_leader_that_slept_hoped_to_have_the_fee_of_its_backup(
    parties, define, active_leader, told
):
    backup = await parties.register_leader("admin", "backup")
    tool = await parties.register_tool(define(), active_leader, backup)
    invocation = await parties.request(tool, leaders=[active_leader, backup])
    parties.pass_time(20_001)
    await parties.settle(backup, invocation, party="admin")
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] < 0
    assert played["admin"] == 0
    told(played["leader"])


async def test_a_leader_hoped_to_settle_when_all_windows_were_over(
    parties, tool, active_leader, told
):
    invocation = await parties.request(tool)
    parties.pass_windows()
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["leader"] < 0
    assert played["owner"] == 0
    told(played["leader"])


async def test_a_leader_hoped_that_one_lost_race_is_anothers_loss(
    parties, tool, active_leader, told
):
    """A batch goes through without what was closed in the meantime."""
    invocations = [await parties.request(tool) for _ in range(3)]
    await parties.fail(active_leader, invocations[1])
    async with parties.round() as played:
        await parties.settle(active_leader, *invocations)
    assert played["owner"] == 2 * tool.price_mist
    assert played["leader"] > 0
    told(0)


async def test_a_leader_hoped_to_be_paid_for_a_padded_answer(
    parties, define, active_leader, told, refused
):
    """A byte of an answer pays what storing it costs, and no more than the requester allowed."""
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


async def test_a_leader_hoped_to_invent_an_answer(parties, define, active_leader, told, refused):
    tool = await parties.register_tool(
        define(), active_leader, keys=(bytes(31) + b"\x01",), requires_signed_outcome=True
    )
    invocation = await parties.request(tool)
    async with parties.round() as played:
        with refused("not_signed"):
            await parties.settle(active_leader, invocation)
    assert played["owner"] == 0
    told(played["leader"])


async def test_a_leader_that_is_suspended_hoped_to_earn_on(
    parties, tool, active_leader, told, refused
):
    invocation = await parties.request(tool)
    admins = parties.leaders("admin")
    await admins.propose_slash(active_leader, 1_000_000_000, "false failures", bytes(32))
    parties.pass_time(3 * 86_400_000)
    await admins.execute_slash(active_leader)
    with refused("leader_suspended"):
        await parties.settle(active_leader, invocation)
    told(0)


async def test_a_leader_hoped_to_leave_before_what_it_owes_is_closed(
    parties, tool, active_leader, told, refused
):
    """The shortest delay is an hour, the longest two windows are six minutes."""
    invocation = await parties.request(tool)
    await parties.leaders().unregister(active_leader)
    with refused("delay_not_over"):
        await parties.leaders().claim(active_leader)
    async with parties.round() as played:
        await parties.settle(active_leader, invocation)
    assert played["owner"] == tool.price_mist
    told(0)


async def test_a_leader_hoped_to_list_itself(parties, define, active_leader, told, refused):
    tool = await parties.register_tool(define(), active_leader)
    other = await parties.register_leader("admin", "other")
    with refused("not_owner"):
        await parties.tools("admin").add_leader(tool.fqn, other)
    told(0)


async def test_a_leader_hoped_that_a_free_tool_is_closed_by_whoever_is_first(
    parties, define, active_leader, told, refused
):
    """With an empty list any leader may be named, but only who is named closes."""
    tool = await parties.register_tool(define(), price_mist=0)
    other = await parties.register_leader("admin", "other")
    invocation = await parties.request(tool, leaders=[active_leader])
    with refused("not_responsible"):
        await parties.fail(other, invocation, party="admin")
    told(0)


async def test_a_leader_hoped_to_close_an_invocation_as_expired_for_a_fee(
    parties, tool, active_leader, told, refused
):
    invocation = await parties.request(tool)
    with refused("not_expired"):
        await parties.invocations("leader").call(calls.expire, invocation)
    parties.pass_windows()
    async with parties.round() as played:
        await parties.invocations("leader").call(calls.expire, invocation)
    assert played["leader"] < 0
    assert played["user"] > 0  # all that was prepaid
    told(played["leader"])
