"""Reads from the journal of a Leader that is not running."""

import sqlite3
from contextlib import closing
from pathlib import Path

from nexus_tools.leader.journal.journal import Stage
from nexus_tools.sui.types.address import Address


def stage_of(journal: Path, invocation: Address) -> Stage | None:
    """Return the stage of an invocation, or None if the journal does not contain it.

    The result is also None while the Leader runs, because the Leader locks the journal.
    """
    try:
        with closing(
            sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
        ) as connection:
            statement = "SELECT stage FROM invocations WHERE invocation = ?"
            row = connection.execute(statement, (bytes(invocation),)).fetchone()
    except sqlite3.Error:
        return None
    return None if row is None else Stage(row[0])
