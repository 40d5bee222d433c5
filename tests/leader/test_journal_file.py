"""The SQLite file of a journal: permissions, format, logging mode."""

import sqlite3
import stat
from contextlib import closing

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.leader.journal.journal import Journal

pytestmark = pytest.mark.anyio

IDENTITY = "chain package leader"


@pytest.fixture
async def reopen(tmp_path):
    """Return a function that opens the journal, and closes it at the end."""
    journals = []

    async def open_it():
        journals.append(await Journal.open(tmp_path / "journal.sqlite", IDENTITY))
        return journals[-1]

    yield open_it
    for journal in journals:
        await journal.close()


async def test_journal_is_readable_only_by_its_owner(reopen, tmp_path, logged):
    await (await reopen()).record_events([], {}, "c", 0)
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert files == dict.fromkeys(("journal.sqlite", "journal.sqlite-wal"), 0o600)
    assert logged == []


async def test_open_fixes_and_logs_the_permissions_of_a_readable_journal(reopen, tmp_path, logged):
    await (await reopen()).close()
    path = tmp_path / "journal.sqlite"
    path.chmod(0o644)
    await reopen()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [line["event"] for line in logged] == ["journal_permissions_fixed"]


@pytest.mark.parametrize("content", [b"this is no database" * 100])
async def test_open_rejects_a_file_that_is_not_a_journal(tmp_path, content):
    path = tmp_path / "journal.sqlite"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        await Journal.open(path, IDENTITY)
    assert caught.value.code == "journal_invalid"


async def test_open_rejects_another_format(reopen, tmp_path):
    await (await reopen()).close()
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 7")
    with pytest.raises(UsageError, match="format 7") as caught:
        await Journal.open(tmp_path / "journal.sqlite", IDENTITY)
    assert caught.value.code == "journal_format_unsupported"


async def test_open_rejects_a_missing_folder(tmp_path):
    with pytest.raises(UsageError) as caught:
        await Journal.open(tmp_path / "none" / "journal.sqlite", IDENTITY)
    assert caught.value.code == "journal_invalid"


async def test_journal_uses_write_ahead_logging(reopen, tmp_path):
    journal = await reopen()
    await journal.record_events([], {}, "c", 0)
    await journal.close()
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_open_rejects_a_journal_in_use(reopen, tmp_path):
    await reopen()
    with pytest.raises(UsageError) as caught:
        await Journal.open(tmp_path / "journal.sqlite", IDENTITY)
    assert caught.value.code == "journal_locked"
