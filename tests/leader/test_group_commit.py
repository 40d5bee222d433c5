"""The queue in front of the journal's database."""

import asyncio
import threading
from math import inf

import pytest

from nexus_tools.leader.journal import group_commit
from nexus_tools.leader.journal.group_commit import GroupCommit
from nexus_tools.leader.journal.sqlite_file import SqliteFile

pytestmark = pytest.mark.anyio


async def test_slow_commit_is_reported_until_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(group_commit, "_SLOW_COMMIT_S", inf)
    commits = GroupCommit(SqliteFile(tmp_path / "journal.sqlite", "", 1))
    started, released = threading.Event(), threading.Event()

    def wait(_):
        started.set()
        return released.wait()

    waiting = asyncio.create_task(commits.run(wait))
    await asyncio.to_thread(started.wait)
    assert commits.trouble == ""
    monkeypatch.setattr(group_commit, "_SLOW_COMMIT_S", -1)
    assert commits.trouble.startswith("the database has not committed for ")
    released.set()
    assert await waiting is True
    assert commits.trouble == ""
    await commits.close()
