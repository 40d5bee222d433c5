import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.run import Run
from nexus_tools.contracts.move_bindings.workflows.execution import (
    ExecutionAdvanced,
    ExecutionEnded,
    ExecutionLeadersChanged,
)
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.contracts.move_bindings.workflows.schedule import (
    ScheduleCancelled,
    ScheduleCursorReset,
    ScheduleLeadersChanged,
    ScheduleRefilled,
)
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.intake.event_page import EventPage
from nexus_tools.leader.intake.relevance import Relevance
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange
from nexus_tools.sui.bcs import boolean, option, record, string, u8, u64, vector
from nexus_tools.sui.client import Cursor, EventRecord, Progress
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import StructTag

PACKAGE = Address.of(0x10)
WORKFLOWS = Address.of(0x11)
DEPLOYMENT = Deployment(
    *(PACKAGE, PACKAGE, *map(Address.of, (0x13, 0x14, 0x15)), "chain"),
    workflows_id=WORKFLOWS,
    workflows_original_id=WORKFLOWS,
)
ME, OTHER = Address.of(0x21), Address.of(0x22)
TOOL, REQUESTER = Address.of(0x31), Address.of(0x32)
FQN = "xyz.example.math.add@1"

# The fields of the events in the order of invocation.move.
FIELDS = {
    "InvocationRequested": (
        *(ADDRESS, ADDRESS, string, ADDRESS, vector(ADDRESS)),
        *(u64, u64, u64, u64, u64, u64, boolean, u64, option(u8)),
    ),
    "InvocationSettled": (
        *(ADDRESS, ADDRESS, string, ADDRESS, ADDRESS, string, u64, u64, ADDRESS, u64, u64, u64),
    ),
    "InvocationFailed": (
        *(ADDRESS, ADDRESS, string, ADDRESS, ADDRESS, string, string, u64, u64, u64),
    ),
    "InvocationExpired": (ADDRESS, ADDRESS, string, ADDRESS, vector(ADDRESS), u64),
    "InvocationDeleted": (ADDRESS, ADDRESS, string, ADDRESS, option(ADDRESS), boolean),
}


def event(place, name, invocation, *values, package=PACKAGE):
    contents = record(FIELDS[name]).encode((invocation, TOOL, FQN, REQUESTER, *values))
    tag = StructTag(package, "invocation", name)
    cursor = Cursor(place, 0, 0)
    chain_event = Event(package, "invocation", REQUESTER, tag, contents)
    return EventRecord(cursor, chain_event, place, Digest(b"\1" * 32), 0)


def requested(place, invocation, *leaders, at_ms=1_000):
    times = (at_ms, 500, at_ms + 1_000 * len(leaders))
    return event(
        place, "InvocationRequested", invocation, leaders, *times, 0, 0, 100, False, 1, None
    )


def settled(place, invocation, leader, *, at_ms=1_200):
    closed = (leader, "ok", at_ms - 100, at_ms, REQUESTER, 0, 4_000, 10)
    return event(place, "InvocationSettled", invocation, *closed)


def read(*items):
    return EventPage.read(items, DEPLOYMENT, ME, Relevance(ME, lambda _: True, lambda: True))


A, B, C = (Address.of(number) for number in (0xA1, 0xA2, 0xA3))


def test_page_assigns_only_requests_for_this_leader():
    page = read(requested(1, A, ME, OTHER), requested(2, B, OTHER), requested(3, C, OTHER, ME))
    assert [(assignment.invocation, assignment.place) for assignment in page.assigned] == [
        (A, 0),
        (C, 1),
    ]


def test_page_has_the_cursor_of_the_last_item():
    progress = Progress(Cursor.after_checkpoint(9))
    assert read(requested(1, A, ME), progress).cursor == progress.cursor


def test_page_with_only_progress_is_empty():
    assert read(Progress(Cursor.after_checkpoint(9))).is_empty


def test_page_records_how_an_invocation_was_closed_for_this_leader():
    failure = (OTHER, "timed_out", "late", 1_300, 2_000, 0)
    page = read(
        settled(1, A, ME),
        settled(2, B, OTHER),
        event(3, "InvocationFailed", C, *failure),
    )
    assert page.closed == {
        A: ClosureKind.SETTLED,
        B: ClosureKind.ELSEWHERE,
        C: ClosureKind.ELSEWHERE,
    }


def test_expired_invocation_stays_missed_after_deletion():
    page = read(
        event(1, "InvocationExpired", A, (ME,), 0),
        event(2, "InvocationDeleted", A, None, False),
        event(3, "InvocationDeleted", B, ME, True),
    )
    assert page.closed == {A: ClosureKind.MISSED, B: ClosureKind.ELSEWHERE}


def test_page_counts_only_own_fees():
    assert read(settled(1, A, ME), settled(2, B, OTHER), settled(3, C, ME)).fees_mist == 8_000


def test_page_keeps_the_latest_time():
    page = read(requested(1, A, OTHER, at_ms=5_000), settled(2, B, OTHER, at_ms=4_000))
    assert page.latest_ms == 5_000


@pytest.mark.parametrize("package", [Address.of(0x99)])
def test_page_ignores_events_of_another_package(package):
    leaders = ((ME,), 1_000, 500, 2_000, 0, 0, 100, False, 1, None)
    page = read(event(1, "InvocationRequested", A, *leaders, package=package))
    assert page.is_empty


# --- Executions

NO_CHANGE = Change((), (), (), ())


def execution_event(place, value):
    """Return an event of the module `execution` with this value."""
    tag = StructTag(WORKFLOWS, "execution", type(value).__name__)
    contents = type(value).bcs.encode(value)
    chain_event = Event(WORKFLOWS, "execution", REQUESTER, tag, contents)
    return EventRecord(Cursor(place, 0, 0), chain_event, place, Digest(b"\1" * 32), 0)


def test_page_keeps_only_executions_that_name_this_leader():
    page = read(
        execution_event(1, ExecutionLeadersChanged(A, (OTHER, ME))),
        execution_event(2, ExecutionLeadersChanged(B, (OTHER,))),
        execution_event(3, ExecutionEnded(C, TOOL, REQUESTER, "completed", 1, 0, 5)),
    )
    assert page.executions == {A: True, B: False, C: False}


def schedule_event(place, value):
    """Return an event of the module `schedule` with this value."""
    tag = StructTag(WORKFLOWS, "schedule", type(value).__name__)
    chain_event = Event(WORKFLOWS, "schedule", REQUESTER, tag, type(value).bcs.encode(value))
    return EventRecord(Cursor(place, 0, 0), chain_event, place, Digest(b"\1" * 32), 0)


def test_page_records_which_schedules_name_this_leader():
    page = read(
        schedule_event(1, ScheduleLeadersChanged(A, (OTHER, ME))),
        schedule_event(2, ScheduleLeadersChanged(B, (OTHER,))),
        schedule_event(3, ScheduleCursorReset(A, 1)),
        schedule_event(4, ScheduleCancelled(A, 0)),
        schedule_event(5, ScheduleRefilled(A, 1, 1)),
    )
    assert page.namings == [
        ScheduleChange(A, Naming.NAMED, Cursor(1, 0, 0)),
        ScheduleChange(B, Naming.NOT_NAMED, Cursor(2, 0, 0)),
        ScheduleChange(A, Naming.RESET, Cursor(3, 0, 0)),
        ScheduleChange(A, Naming.NOT_NAMED, Cursor(4, 0, 0)),
    ]
    assert len(page.schedules) == 5


def test_page_keeps_step_events_in_order():
    advanced = ExecutionAdvanced(A, B, Run(0, ()), NO_CHANGE)
    page = read(settled(1, B, ME), execution_event(2, advanced))
    assert [type(event).__name__ for event in page.steps] == [
        "InvocationSettled",
        "ExecutionAdvanced",
    ]
    assert page.steps[1] == advanced
