"""The SQLite file of a journal."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nexus_tools.errors import UsageError
from nexus_tools.leader.journal.store import Operation
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.private_file import is_exposed

_log = get_logger("nexus_tools.leader")


class SqliteFile:
    """An SQLite file, which is locked while it is open.

    SQLite uses write-ahead logging (WAL) and synchronizes at checkpoints. Committed data survives
    if the process is killed at any moment. A power failure loses at most the latest commits, and
    never a part of a commit.
    """

    failure_hint = "Check the disk, then start the Leader again."

    def __init__(self, path: Path, schema: str, version: int) -> None:
        """Open the file, or create it with its tables.

        Raises:
            UsageError: `journal_locked`, `journal_format_unsupported` if the file has another
                `version` of the schema, or `journal_invalid` if it cannot be used.
        """
        self._connection = _open(path, schema, version)

    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        """Run all operations in one transaction, which an error rolls back completely."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [operation(self._connection) for operation in operations]
            self._connection.execute("COMMIT")
        except Exception:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return results

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _open(path: Path, schema: str, version: int) -> sqlite3.Connection:
    try:
        _restrict_to_owner(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
    except (sqlite3.Error, OSError) as error:
        raise _invalid(path, error) from error
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _check_version(connection, path, version)
        script = f"BEGIN EXCLUSIVE; {schema} PRAGMA user_version = {version}; COMMIT;"
        connection.executescript(script)
    except sqlite3.Error as error:
        connection.close()
        if "locked" in str(error):
            raise UsageError(
                "journal_locked",
                f"another process uses the journal {path}",
                hint="Stop the other process. With two journals, both processes would call each"
                " tool and pay for each closing.",
            ) from error
        raise _invalid(path, error) from error
    return connection


def _restrict_to_owner(path: Path) -> None:
    """Restrict the file's permissions to its owner.

    SQLite creates the other files of the database with the same permissions.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600)):
        pass
    for file in (path, path.with_name(f"{path.name}-wal")):
        if is_exposed(file):
            file.chmod(0o600)
            _log.warning("journal_permissions_fixed", file=str(file), now="0600")


def _check_version(connection: sqlite3.Connection, path: Path, version: int) -> None:
    (stored_version,) = connection.execute("PRAGMA user_version").fetchone()
    if stored_version not in (0, version):
        connection.close()
        raise UsageError(
            "journal_format_unsupported",
            f"expected a journal of format {version}, but {path} has format {stored_version}",
            hint="Finish its work with the release of nexus-tools that wrote it, or name a new file"
            " with --journal.",
        )


def _invalid(path: Path, error: Exception) -> UsageError:
    return UsageError("journal_invalid", f"cannot use the journal {path}: {error}")
