"""Copies of an SQLite file while another process writes to it."""

import shutil
import sqlite3
from contextlib import closing
from itertools import count

import pytest

from nexus_tools.leader.journal import sqlite_copy
from nexus_tools.leader.journal.sqlite_copy import FileChangedError, copied


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite"


@pytest.fixture
def writer(path):
    """Return the connection of a process that has locked the file, with two equal tables."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE one (value INTEGER, filler TEXT)")
    connection.execute("CREATE TABLE two (value INTEGER, filler TEXT)")
    for table in ("one", "two"):
        rows = [(0, "x" * 3_000) for _ in range(20)]
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    checkpoint(connection)
    with closing(connection):
        yield connection


def checkpoint(connection, mode="PASSIVE"):
    assert connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0] == 0


def change(connection, value):
    """Set all values in one transaction."""
    connection.execute("BEGIN")
    connection.execute("UPDATE one SET value = ?", (value,))
    connection.execute("UPDATE two SET value = ?", (value,))
    connection.execute("COMMIT")


def values(path):
    """Return the different values in a copy."""
    with copied(path) as copy, closing(sqlite3.connect(copy)) as connection:
        query = "SELECT value FROM one UNION SELECT value FROM two"
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [value for (value,) in connection.execute(query)]


@pytest.fixture
def copy_with(monkeypatch):
    """Return a function that calls `write(name)` before each part of a copy of a file."""
    copy_file = shutil.copyfile

    def install(write):
        def copy(source, target):
            content = source.read_bytes()
            half = len(content) // 2
            write(source.name)
            copy_file(source, target)
            if not source.name.endswith("-wal"):
                # The first half is older than the write.
                target.write_bytes(content[:half] + target.read_bytes()[half:])

        monkeypatch.setattr(sqlite_copy.shutil, "copyfile", copy)

    return install


def test_copy_contains_the_transactions_of_a_locked_file(path, writer):
    with (
        pytest.raises(sqlite3.OperationalError),
        closing(sqlite3.connect(path, timeout=0)) as other,
    ):
        other.execute("SELECT * FROM one")
    change(writer, 1)
    assert values(path) == [1]
    change(writer, 2)
    assert values(path) == [2]


def test_copy_is_consistent_when_the_wal_moves_into_the_file(path, writer, copy_with):
    change(writer, 1)
    copy_with(lambda name: None if name.endswith("-wal") else checkpoint(writer))
    assert values(path) == [1]


def restart_wal(connection, value):
    """Move the WAL into the file, and overwrite the WAL by another transaction."""
    change(connection, value)
    checkpoint(connection)
    connection.execute("UPDATE one SET value = value + 1 WHERE rowid = 1")
    connection.execute("UPDATE one SET value = value - 1 WHERE rowid = 1")


def test_copy_starts_again_when_the_wal_starts_again(path, writer, copy_with):
    parts = []

    def write(name):
        parts.append(name)
        if len(parts) == 1:
            restart_wal(writer, 1)

    copy_with(write)
    assert values(path) == [1]
    assert parts == 2 * [path.name, f"{path.name}-wal"]


def test_copy_fails_if_the_wal_starts_again_each_time(path, writer, copy_with):
    numbers = count(1)
    copy_with(lambda _: restart_wal(writer, next(numbers)))
    with pytest.raises(FileChangedError):
        values(path)


def test_copy_without_a_wal_is_the_file(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE one (value INTEGER)")
    with copied(path) as copy:
        assert copy.read_bytes() == path.read_bytes()
        folder = copy.parent
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()
