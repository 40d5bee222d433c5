"""Looking into the journal of a Leader that does not run."""

import sqlite3
from contextlib import closing
from pathlib import Path

from nexus_tools.leader.journal.journal import Stage
from nexus_tools.sui.types.address import Address


def stage_of(journal: Path, invocation: Address) -> Stage | None:
    """How far an invocation has come; None if the journal does not know it.

    It does not tell either while its Leader runs, which keeps it locked.
    """
    try:
        with closing(
            sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
        ) as file:
            statement = "SELECT stage FROM invocations WHERE invocation = ?"
            row = file.execute(statement, (bytes(invocation),)).fetchone()
    except sqlite3.Error:
        return None
    return None if row is None else Stage(row[0])
