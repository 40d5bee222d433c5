"""The file with a server's records about leaders, which all its processes share."""

import sqlite3
from pathlib import Path

from nexus_tools.errors import UsageError

# If a process ends, no record is lost. If the machine crashes, the last records may be lost.
# Processes may wait longer for a lock at the start than during a request.
_SHARED = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    {schema}
    PRAGMA busy_timeout = 1000;
"""


def open_state(path: Path | None, schema: str) -> sqlite3.Connection:
    """Open a database with the tables of `schema`, in memory if `path` is None.

    Raises `state_unusable`.
    """
    try:
        if path is not None:
            path.touch(mode=0o600)
        # Each statement is a transaction. The file may be opened in another thread than the thread
        # of the event loop.
        name = path or ":memory:"
        file = sqlite3.connect(name, 10.0, isolation_level=None, check_same_thread=False)
        file.executescript(_SHARED.format(schema=schema))
    except (OSError, sqlite3.Error) as error:
        raise UsageError(
            "state_unusable",
            f"cannot store the server's records about leaders in {path}: {error}",
            hint="Choose a file in a folder that the server can write to.",
        ) from None
    return file
