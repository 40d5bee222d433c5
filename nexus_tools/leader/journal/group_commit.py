"""A thread that owns an SQLite file and commits the writes of many tasks together."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from nexus_tools.errors import NexusError, UsageError
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.private_file import is_exposed

_log = get_logger("nexus_tools.leader")

T = TypeVar("T")

Operation = Callable[[sqlite3.Connection], Any]
_Job = tuple[Operation, "asyncio.Future[Any]"]

_MAX_JOBS = 512


class GroupCommit:
    """A queue of operations on an SQLite file. `run` returns after the operation is committed.

    The file is locked while it is open. SQLite uses write-ahead logging (WAL) and synchronizes at
    checkpoints. Committed data survives if the process is killed at any moment. A power failure
    loses at most the latest commits, and never a part of a commit.
    """

    def __init__(self, path: Path, schema: str, version: int) -> None:
        """Open the file, or create it with its tables.

        Raises:
            UsageError: `journal_locked`, `journal_format_unsupported` if the file has another
                `version` of the schema, or `journal_invalid` if it cannot be used.
        """
        self._connection = _open(path, schema, version)
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    async def run(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of `operation` after its commit. Raises `journal_failed`."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put((operation, future))
        return await future

    async def close(self) -> None:
        """Commit the pending operations and close the file."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        is_running = True
        while is_running:
            batch = self._next_jobs()
            jobs = [job for job in batch if job is not None]
            is_running = len(jobs) == len(batch)
            if jobs:
                self._resolve(jobs, *self._commit([operation for operation, _ in jobs]))
        self._connection.close()

    def _next_jobs(self) -> list[_Job | None]:
        """Wait for a job, and return it with all other queued jobs."""
        batch = [self._jobs.get()]
        while batch[-1] is not None and len(batch) < _MAX_JOBS:
            try:
                batch.append(self._jobs.get_nowait())
            except Empty:
                break
        return batch

    def _commit(self, operations: Sequence[Operation]) -> tuple[list[Any], NexusError | None]:
        """Run all operations in one transaction, which an error rolls back completely."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [operation(self._connection) for operation in operations]
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - callers get any error
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            hint = "Check the disk, then start the Leader again."
            return [], NexusError(
                "journal_failed", f"cannot write to the journal: {error}", hint=hint
            )
        return results, None

    def _resolve(self, jobs: Sequence[_Job], results: list[Any], error: NexusError | None) -> None:
        def tell() -> None:
            for place, (_, future) in enumerate(jobs):
                # The future is done if its caller was cancelled.
                if future.done():
                    continue
                if error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(results[place])

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(tell)


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
                hint="Stop the other Leader, or name another file with --journal.",
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
