"""Attacks by keepers: executions for invented events, and gas that is repaid twice."""

import json

import pytest

from nexus_tools.contracts.move_bindings.workflows import execution as executions
from nexus_tools.contracts.move_bindings.workflows.schedule import ScheduleTriggered
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.errors import NotFoundError
from nexus_tools.registry import Schedules, Workflows
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.workflow import read_document

SUI = 10**9
EACH_MIST = SUI // 5
KEEPER_FEE_MIST = 500_000
PAUSE_MS, HOUR_MS, DAY_MS = 10_000, 3_600_000, 86_400_000
LAST = 2**64 - 1


class Scheduling:
    """Schedules of the user for a workflow of one priced tool. Keepers are workers of leaders."""

    def __init__(self, parties, flow):
        self.parties, self.flow = parties, flow

    def verbs(self, party):
        return Schedules(self.parties.clients[party], self.parties.chain.deployment)

    async def by_event(self, *leaders, max_per_day=100, **options):
        plan = Plan.OnEvent("0x2::coin::Minted", PAUSE_MS, max_per_day)
        return await self.create(Timing(plan, None), *leaders, **options)

    async def hourly(self, *leaders, **options):
        now_ms = await self.parties.clients["user"].now_ms()
        plan = Plan.Every(HOUR_MS, now_ms + HOUR_MS, None)
        return await self.create(Timing(plan, None), *leaders, **options)

    async def create(self, timing, *leaders, funds_mist=20 * SUI):
        created = await self.verbs("user").create(
            self.flow,
            {"a": 20, "b": 22},
            timing,
            leaders=leaders,
            funds_mist=funds_mist,
            funds_per_execution_mist=EACH_MIST,
            keeper_fee_mist=KEEPER_FEE_MIST,
            allow_overlap=True,
        )
        return created.schedule

    async def told(self, party, schedule, leader, checkpoint):
        """Report an event, and return whether that started an execution."""
        verbs = self.verbs(party)
        sent = await verbs.trigger_by_event(schedule, leader, Cursor(checkpoint, 0, 0))
        return has_started(verbs, sent)

    async def take_back(self, schedule):
        """End all executions and cancel the schedule as the owner."""
        verbs = self.verbs("user")
        builder = TransactionBuilder()
        for execution in await verbs.uncollected(schedule):
            executions.cancel(builder, verbs.deployment.workflows, execution.id)
        await verbs.send(builder)
        await verbs.cancel(schedule)


def has_started(verbs, sent):
    try:
        return bool(verbs.emitted(sent, ScheduleTriggered))
    except NotFoundError:
        return False


@pytest.fixture
async def scheduling(parties, tool):
    kind = {"variant": "off_chain", "tool_fqn": tool.fqn}
    vertex = {"name": "add", "kind": kind, "entry_ports": [{"name": "a"}, {"name": "b"}]}
    document, _ = read_document(json.dumps({"vertices": [vertex], "edges": []}))
    workflows = Workflows(parties.clients["owner"], parties.chain.deployment)
    await workflows.publish(document, "xyz.example.flow@1")
    return Scheduling(parties, await workflows.get("xyz.example.flow@1"))


async def test_leader_cannot_empty_a_schedule_by_invented_events(
    scheduling, parties, active_leader, attack
):
    """It reports one event after each pause. The owner's daily limit applies."""
    schedule = await scheduling.by_event(active_leader, max_per_day=5)
    async with attack("leader") as played:
        count = 0
        for checkpoint in range(1, 7):
            count += await scheduling.told("leader", schedule, active_leader, checkpoint)
            parties.pass_time(PAUSE_MS)
        await scheduling.take_back(schedule)
    assert count == 5
    # Five times the storage of an execution, which its cleanup refunds, and a keeper's payment.
    lost_mist = 20 * SUI - played["user"]
    assert 0 < lost_mist < 5 * 15_000_000
    assert played["leader"] < 5 * 2 * KEEPER_FEE_MIST


async def test_two_leaders_cannot_start_more_than_one_execution(
    scheduling, parties, active_leader, define, attack
):
    """The second leader waits for the first one's window after the pause, which applies to both."""
    backup = await parties.register_leader("admin", "backup")
    schedule = await scheduling.by_event(active_leader, backup)
    assert await scheduling.told("leader", schedule, active_leader, 1)
    async with attack("admin"):
        parties.pass_time(PAUSE_MS)
        assert not await scheduling.told("admin", schedule, backup, 2)
    parties.pass_time(PAUSE_MS)
    assert await scheduling.told("admin", schedule, backup, 2)
    assert not await scheduling.told("leader", schedule, active_leader, 3)


async def test_leader_cannot_end_a_schedule_by_an_event_from_the_far_future(
    scheduling, parties, active_leader, attack
):
    """Its owner resets the cursor, and names another leader in the same transaction."""
    other = await parties.register_leader("admin", "other")
    schedule = await scheduling.by_event(active_leader)
    async with attack("leader") as played:
        verbs = scheduling.verbs("leader")
        assert has_started(
            verbs, await verbs.trigger_by_event(schedule, active_leader, Cursor(LAST, LAST, LAST))
        )
        parties.pass_time(PAUSE_MS)
        assert not await scheduling.told("leader", schedule, active_leader, LAST)
        await scheduling.verbs("user").reset_cursor(schedule, [other])
    assert played["leader"] < 2 * KEEPER_FEE_MIST
    assert -played["user"] < 3_000_000  # the gas of one transaction
    assert await scheduling.told("admin", schedule, other, 2)


async def test_keeper_is_repaid_the_gas_of_one_transaction_only_once(
    scheduling, parties, active_leader, attack
):
    """The same schedule is triggered ten times: one execution starts and is paid once."""
    schedule = await scheduling.hourly(active_leader)
    parties.pass_time(HOUR_MS)
    verbs = scheduling.verbs("leader")
    found = await verbs.get(schedule)
    builder = TransactionBuilder()
    for _ in range(10):
        await verbs.add_trigger(builder, found, active_leader, ())
    async with attack("leader") as played:
        sent = await verbs.send(builder)
    assert [event.type.name for event in sent.events].count("ScheduleTriggered") == 1
    assert played["leader"] < 2 * KEEPER_FEE_MIST


async def test_keeper_cannot_earn_gas_by_triggering_many_schedules_at_once(
    scheduling, parties, active_leader, attack
):
    """The first schedule pays for the transaction, and the others for their additional gas."""
    one, *others = [await scheduling.hourly(active_leader, funds_mist=SUI) for _ in range(6)]
    parties.pass_time(HOUR_MS)
    verbs = scheduling.verbs("leader")
    async with parties.round() as alone:
        await verbs.trigger(one, active_leader)
    builder = TransactionBuilder()
    for item in others:
        await verbs.add_trigger(builder, await verbs.get(item), active_leader, ())
    async with attack("leader", {"leader": 5 * alone["leader"]}) as played:
        sent = await verbs.send(builder)
    assert [event.type.name for event in sent.events].count("ScheduleTriggered") == 5
    # The gas of a transaction is paid once. Each further trigger is paid 150 units, which at best
    # are part of the first 1 000, as Sui rounds up to those.
    assert played["leader"] <= 5 * alone["leader"] + 4 * 150_000 + 5 * 25_000
