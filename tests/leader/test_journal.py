import asyncio
import signal
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from nexus_tools.errors import NexusError, UsageError
from nexus_tools.leader.assembly import open_journal
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.fleet.fleet_journal import FleetJournal
from nexus_tools.leader.journal.invocation_rows import Stage
from nexus_tools.leader.journal.lease import Member, RowLostError
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange, Search
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature

pytestmark = pytest.mark.anyio

IDENTITY = "chain package leader"
ANSWER = Answer("ok", {"result": 2**70, "text": "é\U0001f600", "half": 0.1, "none": None})


def assignment_of(number):
    return Assignment(
        invocation=Address.of(number),
        tool=Address.of(0x7001),
        fqn="xyz.example.math.add@1",
        place=0,
        opens_at_ms=1_000,
        window_ends_at_ms=2_000,
        expires_at_ms=3_000,
        timeout_ms=500,
        max_outcome_bytes=100,
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def setting(request, tmp_path):
    """Return the setting of a new journal in each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "journal.sqlite")
    return request.getfixturevalue("postgres").new_url()


@pytest.fixture
def location(setting):
    return LeaderConfig(journal=setting).journal


@pytest.fixture
async def reopen(location):
    """Return a function that closes the journal and opens it again."""
    opened = []

    async def open_it(identity=IDENTITY):
        while opened:
            await opened.pop().close()
        opened.append(await open_journal(location, identity, Member()))
        return opened[-1]

    yield open_it
    while opened:
        await opened.pop().close()


async def assign(journal, *numbers, closed=None, cursor="c"):
    assigned = [assignment_of(number) for number in numbers]
    return await record_events(journal, assigned, closed, cursor)


async def record_events(journal, assigned, closed=None, cursor="c"):
    """Record events, and claim the new invocations if several processes share the journal."""
    new = await journal.record_events(assigned, closed or {}, cursor, 0)
    if isinstance(journal, FleetJournal):
        await journal.claim(10_000, 1_000, {}, 1_000)
    return new


async def test_schedules_have_the_position_of_their_first_naming_or_last_reset(reopen):
    journal = await reopen()
    named, again, reset, removed, foreign = map(Address.of, range(1, 6))
    changes = [
        *(ScheduleChange(each, Naming.NAMED, Cursor(1, 0, 0)) for each in (named, again, reset)),
        ScheduleChange(removed, Naming.NAMED, Cursor(1, 0, 0)),
        ScheduleChange(again, Naming.NOT_NAMED, Cursor(2, 0, 0)),
        ScheduleChange(removed, Naming.NOT_NAMED, Cursor(2, 0, 1)),
        ScheduleChange(again, Naming.NAMED, Cursor(3, 0, 0)),
        ScheduleChange(named, Naming.NAMED, Cursor(4, 0, 0)),
        ScheduleChange(reset, Naming.RESET, Cursor(5, 0, 0, b"token")),
        ScheduleChange(foreign, Naming.RESET, Cursor(5, 0, 1)),
    ]
    await journal.record_events([], {}, "c", 0, schedules=changes)
    memory = await (await reopen()).recover()
    places = {named: Cursor(1, 0, 0), again: Cursor(3, 0, 0), reset: Cursor(5, 0, 0)}
    assert memory.schedules == places


async def test_finished_searches_are_remembered_until_one_is_reopened(reopen):
    journal = await reopen()
    assert (await journal.recover()).searches == frozenset()
    execution, schedule = Address.of(1), Address.of(2)
    await journal.finish_execution_search([execution])
    await journal.finish_schedule_search({schedule: Cursor(3, 1, 0)})
    memory = await (await reopen()).recover()
    assert memory.searches == {Search.EXECUTIONS, Search.SCHEDULES}
    assert (memory.executions, memory.schedules) == ((execution,), {schedule: Cursor(3, 1, 0)})
    await (await reopen()).reopen_schedule_search()
    memory = await (await reopen()).recover()
    assert memory.searches == {Search.EXECUTIONS}
    assert set(memory.schedules) == {schedule}


async def test_new_journal_is_empty(reopen):
    memory = await (await reopen()).recover()
    assert (memory.cursor, memory.entries) == (None, ())


async def test_events_and_cursor_survive_a_restart(reopen):
    await assign(await reopen(), 1, 2, cursor="[7,0,0,null]")
    memory = await (await reopen()).recover()
    assert memory.cursor == "[7,0,0,null]"
    assert [entry.assignment for entry in memory.entries] == [assignment_of(1), assignment_of(2)]
    assert {entry.stage for entry in memory.entries} == {Stage.ASSIGNED}


async def test_executions_are_kept_until_they_are_forgotten(reopen):
    first, second = Address.of(0xE1), Address.of(0xE2)
    journal = await reopen()
    await journal.record_events([], {}, "c", 0, {first: True, second: True})
    journal = await reopen()
    assert set((await journal.recover()).executions) == {first, second}
    await journal.record_events([], {}, "d", 0, {first: False})
    await journal.save_executions({second: True})
    assert (await (await reopen()).recover()).executions == (second,)


async def test_repeated_event_is_not_new(reopen):
    journal = await reopen()
    assert await assign(journal, 1) == (assignment_of(1),)
    assert await assign(journal, 1, 2) == (assignment_of(2),)


async def test_request_closed_on_the_same_page_is_not_new(reopen):
    journal = await reopen()
    assert await assign(journal, 1, closed={Address.of(1): ClosureKind.ELSEWHERE}) == ()
    assert (await journal.recover()).entries == ()


@pytest.mark.parametrize(
    "outcome",
    [
        ANSWER,
        replace(ANSWER, signature=OutcomeSignature(b"\1" * 32, b"\2" * 64)),
        Failure(FailureReason.TIMED_OUT, "the tool did not respond"),
        # PostgreSQL accepts neither in a text.
        Answer("ok", {"zero": "\0", "surrogate": "\ud800"}),
        Failure(FailureReason.REFUSED, "\0\udfff"),
    ],
)
async def test_outcome_survives_a_restart(reopen, outcome):
    journal = await reopen()
    await assign(journal, 1)
    await journal.record_call(Address.of(1))
    assert (await journal.recover()).entries[0].stage is Stage.CALLED
    await journal.record_outcome(Address.of(1), outcome)
    (entry,) = (await (await reopen()).recover()).entries
    assert (entry.stage, entry.outcome) == (Stage.COMPLETED, outcome)


async def test_only_open_invocations_are_recalled_after_a_restart(reopen):
    journal = await reopen()
    await assign(journal, 1, 2, 3)
    for number in (1, 2):
        await journal.record_outcome(Address.of(number), ANSWER)
    await journal.record_closed({Address.of(1): ClosureKind.SETTLED}, 5_000)
    memory = await (await reopen()).recover()
    assert {e.assignment.invocation: (e.stage, e.outcome) for e in memory.entries} == {
        Address.of(2): (Stage.COMPLETED, ANSWER),
        Address.of(3): (Stage.ASSIGNED, None),
    }


async def test_event_does_not_reopen_a_closed_invocation(reopen):
    journal = await reopen()
    await assign(journal, 1, closed={Address.of(1): ClosureKind.ELSEWHERE})
    for record in (
        journal.record_call(Address.of(1)),
        journal.record_outcome(Address.of(1), ANSWER),
    ):
        with suppress(RowLostError):
            await record
    assert await assign(journal, 1) == ()
    assert (await journal.recover()).entries == ()


async def test_request_at_another_time_is_new(reopen):
    journal = await reopen()
    await assign(journal, 1)
    await journal.record_closed({Address.of(1): ClosureKind.SETTLED}, 0)
    later = replace(assignment_of(1), opens_at_ms=1_500, expires_at_ms=3_500)
    assert await record_events(journal, [later], cursor="d") == (later,)
    (entry,) = (await (await reopen()).recover()).entries
    assert (entry.assignment, entry.stage, entry.outcome) == (later, Stage.ASSIGNED, None)


async def test_invocation_closed_before_expiry_can_be_reopened(reopen):
    journal = await reopen()
    await assign(journal, 1, 2, closed={Address.of(1): ClosureKind.SETTLED})
    expires_at_ms = assignment_of(1).expires_at_ms
    assert await journal.closed_early(expires_at_ms) == ()
    assert await journal.closed_early(expires_at_ms - 1) == (assignment_of(1),)
    await journal.reopen([Address.of(1)])
    memory = await (await reopen()).recover()
    assert {entry.assignment for entry in memory.entries} == {assignment_of(1), assignment_of(2)}
    assert {entry.stage for entry in memory.entries} == {Stage.ASSIGNED}


async def test_closed_last_returns_the_latest_unexpired_invocations(reopen):
    journal = await reopen()
    await assign(journal, 1, 2, 3, 4)
    for number, closed_at_ms in ((1, 1_000), (2, 1_500), (3, 2_500)):
        await journal.record_closed({Address.of(number): ClosureKind.SETTLED}, closed_at_ms)
    assert await journal.closed_last(2_000, 1) == (assignment_of(2),)
    assert await journal.closed_last(2_000, 9) == (assignment_of(2), assignment_of(1))
    assert await journal.closed_last(assignment_of(1).expires_at_ms, 9) == ()


async def test_prune_deletes_only_old_closed_invocations(reopen):
    journal = await reopen()
    await assign(journal, 1, 2, 3)
    await journal.record_closed({Address.of(1): ClosureKind.SETTLED}, 1_000)
    await journal.record_closed({Address.of(2): ClosureKind.SETTLED}, 2_000)
    assert await journal.prune(2_000) == 1
    assert [e.assignment.invocation for e in (await journal.recover()).entries] == [Address.of(3)]


async def test_open_rejects_the_journal_of_another_leader(reopen):
    await reopen()
    with pytest.raises(UsageError) as caught:
        await reopen("chain package other")
    assert caught.value.code == "journal_identity_mismatch"


@pytest.mark.parametrize("wrong", [{"fqn": None}, {"expires_at_ms": 2**64}])
async def test_database_error_reaches_the_writer(reopen, wrong):
    journal = await reopen()
    broken = replace(assignment_of(1), **wrong)
    with pytest.raises(NexusError) as caught:
        await journal.record_events([broken], {}, "c", 0)
    assert caught.value.code == "journal_failed"
    assert await assign(journal, 1) == (assignment_of(1),)


async def test_writes_of_many_tasks_are_all_committed(reopen):
    journal = await reopen()
    await assign(journal, *range(1, 301))
    async with asyncio.TaskGroup() as group:
        for number in range(1, 301):
            group.create_task(journal.record_outcome(Address.of(number), ANSWER))
    stages = [entry.stage for entry in (await (await reopen()).recover()).entries]
    assert stages == [Stage.COMPLETED] * 300


# The process prints each commit on stdout, and is killed while it continues.
VICTIM = """
import asyncio, sys
from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.assembly import open_journal
from nexus_tools.leader.journal.lease import Member
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

def say(*words):
    print(*words, flush=True)

async def one(journal, number):
    invocation = Address.of(number)
    assignment = Assignment(invocation, Address.of(1), "a.b.c@1", 0, 1, 2, 3, 4, 5)
    await journal.record_events([assignment], {}, f"[{number},0,0,null]", 0)
    say(number, "assigned")
    if hasattr(journal, "claim"):
        await journal.claim(10_000, 1_000, {}, 1_000)
    await journal.record_call(invocation)
    say(number, "called")
    await journal.record_outcome(invocation, Answer("ok", {"n": number}))
    say(number, "known")
    await journal.record_closed({invocation: ClosureKind.SETTLED}, 1)
    say(number, "closed")

async def main():
    location = LeaderConfig(journal=sys.argv[1]).journal
    journal = await open_journal(location, "chain package leader", Member())
    for number in range(1, 100_000):
        await one(journal, number)

asyncio.run(main())
"""
ORDER = ["assigned", "called", "known", "closed"]


@pytest.mark.parametrize("stage", ORDER)
async def test_kill_between_stages_loses_no_committed_data(reopen, setting, stage):
    committed_stages = {}
    command = [sys.executable, "-c", VICTIM, setting]
    victim = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    killed = False
    async for line in victim.stdout:
        number, _, reached = line.decode().rstrip().partition(" ")
        if not line.endswith(b"\n"):
            break
        committed_stages[int(number)] = reached
        if not killed and int(number) == 20 and reached == stage:
            victim.kill()
            killed = True
    assert await victim.wait() == -signal.SIGKILL

    memory = await (await reopen()).recover()
    last = max(committed_stages)
    stages = {int.from_bytes(e.assignment.invocation, "big"): e for e in memory.entries}
    assert set(stages) <= {last, last + 1}
    if last in stages:
        assert ORDER.index(stages[last].stage.value) >= ORDER.index(committed_stages[last])
    else:
        assert committed_stages[last] in ("known", "closed")
    for number, entry in stages.items():
        if entry.stage is Stage.COMPLETED:
            assert entry.outcome == Answer("ok", {"n": number})
    assert int(memory.cursor.strip("[").split(",")[0]) in (last, last + 1)
