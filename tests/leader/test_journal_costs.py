"""The SQL statements that each operation of the journal executes in a SQLite file."""

import sqlite3

import pytest

from nexus_tools.leader.chain.assignment import Assignment
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.journal.journal import AuthorAccount, Journal
from nexus_tools.leader.journal.schedule_rows import Naming, ScheduleChange
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

ONE, TWO, THREE = map(Address.of, (1, 2, 3))
TERMS = (Address.of(7), "xyz.example.math.add@1", 0, 1_000, 2_000, 3_000, 500, 100)
PLACE = Cursor(1, 0, 0)


@pytest.fixture
async def traced(tmp_path, monkeypatch):
    """Open a journal, and return it with the list of its statements, which grows."""
    statements = []
    connect = sqlite3.connect

    def connect_traced(*args, **options):
        connection = connect(*args, **options)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_traced)
    journal = await Journal.open(tmp_path / "journal.sqlite", "identity")
    yield journal, statements
    await journal.close()


# Each number includes BEGIN and COMMIT.
@pytest.mark.parametrize(
    ("expected", "operation"),
    [
        (3, lambda journal: journal.record_call(ONE)),
        (3, lambda journal: journal.record_outcome(ONE, Answer("ok", {}))),
        (3, lambda journal: journal.record_closed({ONE: ClosureKind.SETTLED}, 1)),
        (
            4,
            lambda journal: journal.record_closed(dict.fromkeys((ONE, TWO), ClosureKind.MISSED), 1),
        ),
        (3, lambda journal: journal.record_events([], {}, "c", 0)),
        (5, lambda journal: journal.record_events(assignments(ONE, TWO), {}, "c", 0)),
        (5, lambda journal: journal.record_events([], {}, "c", 0, {ONE: True, TWO: False})),
        (
            4,
            lambda journal: journal.record_events([], {}, "c", 0, schedules=[change(Naming.NAMED)]),
        ),
        (
            4,
            lambda journal: journal.record_events([], {}, "c", 0, schedules=[change(Naming.RESET)]),
        ),
        (3, lambda journal: journal.save_executions({ONE: True})),
        (4, lambda journal: journal.finish_execution_search([ONE])),
        (5, lambda journal: journal.finish_schedule_search({ONE: PLACE, TWO: PLACE})),
        (3, lambda journal: journal.reopen_schedule_search()),
        (3, lambda journal: journal.tool_accounts()),
        (4, lambda journal: journal.save_tool_accounts(dict.fromkeys((ONE, TWO), ACCOUNT))),
        (3, lambda journal: journal.closed_early(1)),
        (3, lambda journal: journal.closed_last(1, 50)),
        (4, lambda journal: journal.reopen([ONE, TWO])),
        (3, lambda journal: journal.prune(1)),
        (7, lambda journal: journal.recover()),
    ],
)
async def test_operation_executes_a_fixed_number_of_statements(traced, expected, operation):
    journal, statements = traced
    await journal.record_events(assignments(ONE, THREE), {}, "c", 0)
    statements.clear()
    await operation(journal)
    assert len(statements) == expected, statements


def assignments(*invocations):
    return [Assignment(invocation, *TERMS) for invocation in invocations]


def change(naming):
    return ScheduleChange(ONE, naming, PLACE)


ACCOUNT = AuthorAccount(1, 2)
