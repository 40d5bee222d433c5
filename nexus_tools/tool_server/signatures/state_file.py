"""The file of what a server remembers of leaders: shared by its processes, it outlives them."""

import sqlite3
from pathlib import Path

from nexus_tools.errors import UsageError

# Nothing is lost when a process ends; when the machine does, what it kept last may be. Processes
# that begin together wait for each other longer than a request may.
_SHARED = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    {schema}
    PRAGMA busy_timeout = 1000;
"""


def open_state(path: Path | None, schema: str) -> sqlite3.Connection:
    """The file with the tables of `schema`, or memory of this process. Raises `state_unusable`."""
    try:
        if path is not None:
            path.touch(mode=0o600)
        # One statement at a time, each by itself; the loop's thread need not have opened it.
        name = path or ":memory:"
        file = sqlite3.connect(name, 10.0, isolation_level=None, check_same_thread=False)
        file.executescript(_SHARED.format(schema=schema))
    except (OSError, sqlite3.Error) as error:
        raise UsageError(
            "state_unusable",
            f"{path} cannot keep what the server remembers of leaders: {error}",
            hint="name a file in a folder that the server may write to",
        ) from None
    return file
