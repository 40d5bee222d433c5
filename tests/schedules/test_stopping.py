"""Free funds of stopped executions return to their schedule immediately."""

import pytest

from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows.execution import Execution, ExecutionRefunded
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    ScheduleCollected,
    ScheduleTriggered,
)
from nexus_tools.errors import WrongStateError
from nexus_tools.registry import Executions, StepCommands
from nexus_tools.registry.executions.step_commands import RequestRun
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.workflow import Run

pytestmark = pytest.mark.anyio

HOUR_MS = 3_600_000
SUI = 1_000_000_000
EACH_MIST = SUI // 10


@pytest.fixture
async def running(create, keeper, active_leader, chain, flow):
    """Return a schedule, and an execution of it whose only run is requested."""
    schedule = await create()
    chain.net.advance_clock(HOUR_MS)
    triggered = keeper.emitted(await keeper.trigger(schedule, active_leader), ScheduleTriggered)
    builder = TransactionBuilder()
    commands = StepCommands(chain.deployment, flow.id, flow.plan)
    commands.add(builder, triggered.execution, active_leader, RequestRun(Run("v0")))
    await keeper.send(builder)
    return schedule, triggered.execution


async def funds_of(schedules, execution):
    return (await schedules.read(execution, Execution)).funds


async def test_cancelling_an_execution_returns_its_free_funds_to_its_schedule(
    running, schedules, user
):
    schedule, execution = running
    had_mist = (await schedules.get(schedule)).funds
    free_mist = await funds_of(schedules, execution)
    sent = await Executions(user, schedules.deployment).cancel(execution)
    refunded = schedules.emitted(sent, ExecutionRefunded)
    assert (refunded.execution, refunded.amount_mist) == (execution, free_mist)
    assert (await schedules.get(schedule)).funds == had_mist + free_mist
    assert await funds_of(schedules, execution) == 0
    # The pending invocation keeps its payment, so the execution has not ended.
    assert (await schedules.get(schedule)).running == 1
    assert not schedules.has_emitted(sent, ScheduleCollected)


async def test_cancelling_a_schedule_refunds_unneeded_funds_of_its_stopped_execution(
    running, schedules, user, chain
):
    schedule, execution = running
    free_mist = await funds_of(schedules, execution)
    await schedules.call(executions.cancel, execution)
    standing = await schedules.overview(schedule)
    assert standing.collectable_mist == free_mist
    before_mist = await user.balance(user.address)
    sent = await schedules.cancel(schedule)
    back_mist = schedules.returned_mist(sent)
    assert await user.balance(user.address) == before_mist + back_mist - sent.cost.net
    assert back_mist == standing.schedule.funds + free_mist
    with pytest.raises(WrongStateError):
        await schedules.cancel(schedule)
    # The invocation's payment is refunded after its expiry.
    chain.net.advance_clock(HOUR_MS)
    later_mist = schedules.returned_mist(await schedules.cancel(schedule))
    assert 0 < later_mist < EACH_MIST - free_mist
    assert (await schedules.list()).items == ()


async def test_collecting_ends_a_late_execution_and_takes_its_free_funds(running, schedules, chain):
    schedule, execution = running
    free_mist = await funds_of(schedules, execution)
    had_mist = (await schedules.get(schedule)).funds
    with pytest.raises(WrongStateError) as caught:
        await schedules.collect(schedule)
    assert caught.value.code == "nothing_to_collect"
    chain.net.advance_clock(HOUR_MS // 2)
    await schedules.collect(schedule)
    assert (await schedules.get(schedule)).funds > had_mist + free_mist
    # The invocation has expired too, so this ends the execution.
    ended = await schedules.read(execution, Execution)
    assert (ended.progress.ending, ended.progress.in_flight, ended.funds) == ("timed_out", 0, 0)
    assert ended.is_collected
