"""The journal's rows about schedules that name this leader, and about finished searches."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from nexus_tools.leader.journal.store import Connection
from nexus_tools.sui.client import Cursor
from nexus_tools.sui.types.address import Address

SCHEMA = """
CREATE TABLE IF NOT EXISTS schedules (schedule BLOB PRIMARY KEY, since TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS searches (subject TEXT PRIMARY KEY) STRICT;
"""


class Search(StrEnum):
    """A search of past events that a Leader finishes once for each journal."""

    EXECUTIONS = "executions"
    SCHEDULES = "schedules"


class Naming(StrEnum):
    """The change of a schedule that an event reports."""

    NAMED = "named"
    RESET = "reset"
    """The schedule accepts only later events. It may name another leader."""
    NOT_NAMED = "not_named"
    """The schedule names other leaders, or was cancelled."""


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """An event that changes whether a schedule names this leader, or from which event it counts."""

    schedule: Address
    naming: Naming
    place: Cursor


def apply_changes(connection: Connection, changes: Iterable[ScheduleChange]) -> None:
    """Write the changes in their order. A schedule that is already named keeps its position."""
    for change in changes:
        schedule, since = bytes(change.schedule), _text(change.place)
        match change.naming:
            case Naming.NAMED:
                statement = (
                    "INSERT INTO schedules (since, schedule) VALUES (?, ?) ON CONFLICT DO NOTHING"
                )
            case Naming.RESET:
                statement = "UPDATE schedules SET since = ? WHERE schedule = ?"
            case Naming.NOT_NAMED:
                connection.execute("DELETE FROM schedules WHERE schedule = ?", (schedule,))
                continue
        connection.execute(statement, (since, schedule))


def finish_schedule_search(connection: Connection, found: Mapping[Address, Cursor]) -> None:
    """Write the schedules that the search found, and that the search is finished."""
    rows = [(bytes(schedule), _text(since)) for schedule, since in found.items()]
    connection.executemany(
        "INSERT INTO schedules VALUES (?, ?)"
        " ON CONFLICT (schedule) DO UPDATE SET since = excluded.since",
        rows,
    )
    finish_search(connection, Search.SCHEDULES)


def finish_search(connection: Connection, search: Search) -> None:
    """Write that a search is finished."""
    connection.execute("INSERT INTO searches VALUES (?) ON CONFLICT DO NOTHING", (search.value,))


def read_schedules(connection: Connection) -> dict[Address, Cursor]:
    """Return the schedules that name this leader, and the position from which events count."""
    rows = connection.execute("SELECT schedule, since FROM schedules")
    return {Address(schedule): Cursor.parse(since) for schedule, since in rows}


def read_searches(connection: Connection) -> frozenset[Search]:
    """Return the finished searches."""
    rows = connection.execute("SELECT subject FROM searches")
    return frozenset(Search(subject) for (subject,) in rows)


def _text(place: Cursor) -> str:
    return str(Cursor(*place.position))
