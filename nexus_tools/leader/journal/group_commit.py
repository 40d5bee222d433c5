"""A thread that owns an SQLite file and commits what many tasks write, together."""

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
    """Runs operations in the order in which they are given; each is committed when it returns.

    The file is locked for as long as it is open. It is written ahead (WAL), synchronized at
    checkpoints: what is committed survives the end of the process at any moment, and the loss of
    power takes at most the latest commits as a whole.
    """

    def __init__(self, path: Path, schema: str, version: int) -> None:
        """Open the file, or make it with its tables.

        Raises `UsageError` with code `journal_locked`, or `journal_invalid` for a file of another
        kind or `version` of the schema.
        """
        self._connection = _open(path, schema, version)
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    async def run(self, operation: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `operation`, once it is committed. Raises `journal_failed`."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put((operation, future))
        return await future

    async def close(self) -> None:
        """Commit what was given, and close the file."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        running = True
        while running:
            taken = self._take()
            jobs = [job for job in taken if job is not None]
            running = len(jobs) == len(taken)
            if jobs:
                self._tell(jobs, *self._commit([operation for operation, _ in jobs]))
        self._connection.close()

    def _take(self) -> list[_Job | None]:
        """Wait for a job, and take those that came meanwhile."""
        taken = [self._jobs.get()]
        while taken[-1] is not None and len(taken) < _MAX_JOBS:
            try:
                taken.append(self._jobs.get_nowait())
            except Empty:
                break
        return taken

    def _commit(self, operations: Sequence[Operation]) -> tuple[list[Any], NexusError | None]:
        """All of them in one transaction, or none: after an error nothing is to be trusted."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [operation(self._connection) for operation in operations]
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the thread tells who waits, whatever happens
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            hint = "look at the disk and start again"
            return [], NexusError("journal_failed", f"the journal fails: {error}", hint=hint)
        return results, None

    def _tell(self, jobs: Sequence[_Job], results: list[Any], error: NexusError | None) -> None:
        def tell() -> None:
            for place, (_, future) in enumerate(jobs):
                # Who waited for it was cancelled.
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
        _keep_private(path)
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
                f"another process works with the journal {path}",
                hint="one journal belongs to one running Leader",
            ) from error
        raise _invalid(path, error) from error
    return connection


def _keep_private(path: Path) -> None:
    """Have the file for its owner alone; SQLite makes those beside it alike."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600)):
        pass
    for each in (path, path.with_name(f"{path.name}-wal")):
        if is_exposed(each):
            each.chmod(0o600)
            _log.warning("journal_was_exposed", file=str(each), now="0600")


def _check_version(connection: sqlite3.Connection, path: Path, version: int) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found not in (0, version):
        connection.close()
        raise UsageError(
            "journal_format_unsupported",
            f"the journal {path} has format {found}, and this release reads format {version}",
            hint="finish its work with the release of nexus-tools that wrote it, or name a new file"
            " with --journal",
        )


def _invalid(path: Path, error: Exception) -> UsageError:
    return UsageError("journal_invalid", f"the journal {path} cannot be used: {error}")
