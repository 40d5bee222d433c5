"""The lock of a key: commands send the transactions of a key one after another."""

import asyncio
import os
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from nexus_tools.cli.framework import Output, confirm_and_execute
from nexus_tools.cli.framework.sending_turn import sending_turn

pytestmark = pytest.mark.anyio


async def test_turn_waits_for_the_end_of_another_turn(tmp_path):
    path, order = tmp_path / "sending" / "key.lock", []

    async def take_turn():
        async with sending_turn(path):
            order.append("second")

    async with sending_turn(path):
        waiting = asyncio.create_task(take_turn())
        for _ in range(10):
            await asyncio.sleep(0)
        order.append("first")
    await waiting
    assert order == ["first", "second"]


async def test_turns_of_different_keys_do_not_wait(tmp_path):
    async with sending_turn(tmp_path / "one.lock"), sending_turn(tmp_path / "two.lock"):
        pass


async def test_turn_needs_no_writable_folder(tmp_path):
    (tmp_path / "file").touch()
    async with sending_turn(tmp_path / "file" / "key.lock"):
        pass


async def test_turn_does_not_change_the_target_of_a_symlink(tmp_path):
    """Another user of a shared folder could otherwise empty any file of this user."""
    path, target = tmp_path / "key.lock", tmp_path / "target"
    target.write_text("text")
    path.symlink_to(target)
    async with sending_turn(path):
        pass
    assert target.read_text() == "text"


async def test_turn_does_not_wait_for_a_fifo(tmp_path):
    path = tmp_path / "key.lock"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR)  # so that a test without the check fails instead of waiting
    async with asyncio.timeout(5), sending_turn(path), sending_turn(path):
        pass
    os.close(reader)


async def test_only_the_user_can_open_and_thus_hold_the_lock(tmp_path):
    async with sending_turn(tmp_path / "key.lock"):
        assert (tmp_path / "key.lock").stat().st_mode & 0o777 == 0o600


async def test_transaction_is_sent_within_the_turn_of_its_key():
    order = []

    @asynccontextmanager
    async def turn():
        order.append("start")
        yield
        order.append("end")

    async def send(_):
        order.append("send")

    session = SimpleNamespace(
        output=Output(), dry_run=False, yes=True, last_sent=None, sent=[], sending_turn=turn
    )
    await confirm_and_execute(session, object(), send, question=lambda _: "")
    assert order == ["start", "send", "end"]
