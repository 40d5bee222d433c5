"""Reads from the SQLite file of a Leader that is not running."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.leader.journal.journal import Stage
from nexus_tools.sui.types.address import Address


def stage_of(journal: Path, invocation: Address) -> Stage | None:
    """Return the stage of an invocation, or None if the journal does not contain it.

    The result is also None while the Leader runs, because the Leader locks the journal.
    """
    try:
        statement = "SELECT stage FROM invocations WHERE invocation = ?"
        row = _read_row(journal, statement, bytes(invocation))
    except sqlite3.Error:
        return None
    return None if row is None else Stage(row[0])


def require_finished(journal: Path) -> None:
    """Raise if a Leader with another journal would leave open invocations of this file.

    Raises:
        UsageError: `journal_unfinished` if the file contains open invocations, or if a Leader uses
            the file.
    """
    if not journal.exists():
        return
    try:
        [count] = _read_row(journal, "SELECT count(*) FROM invocations WHERE stage != 'closed'")
    except sqlite3.Error as error:
        problem = f"cannot be read: {error}"
    else:
        problem = f"contains {count} open invocations" if count else ""
    if problem:
        raise UsageError(
            "journal_unfinished",
            f"the former journal {journal} {problem}",
            hint="Run the Leader with this file until it has closed its invocations, or move the"
            " file to leave them.",
        )


def _read_row(journal: Path, statement: str, *values: bytes) -> Any:
    uri = f"{journal.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
        return connection.execute(statement, values).fetchone()
