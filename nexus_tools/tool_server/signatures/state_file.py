"""The file with a server's records about leaders, shared by its processes."""

import sqlite3
from pathlib import Path

from nexus_tools.errors import UsageError

# No record is lost if a process ends. The last records may be lost if the machine crashes.
# Processes that start together may wait for each other longer than a request may.
_SHARED = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    {schema}
    PRAGMA busy_timeout = 1000;
"""


def open_state(path: Path | None, schema: str) -> sqlite3.Connection:
    """Open a file with the tables of `schema`, or memory. Raises `state_unusable`."""
    try:
        if path is not None:
            path.touch(mode=0o600)
        # Each statement is a transaction. Another thread than the event loop's may open the file.
        name = path or ":memory:"
        file = sqlite3.connect(name, 10.0, isolation_level=None, check_same_thread=False)
        file.executescript(_SHARED.format(schema=schema))
    except (OSError, sqlite3.Error) as error:
        raise UsageError(
            "state_unusable",
            f"{path} cannot store the server's records about leaders: {error}",
            hint="Choose a file in a folder that the server can write to.",
        ) from None
    return file
