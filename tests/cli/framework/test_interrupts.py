"""Ctrl-C while a command waits for stdin, within asyncio's loop as commands run in it."""

import asyncio
import gc
import io
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from nexus_tools.cli.framework import read_bytes, terminable


class Interrupted(io.BytesIO):
    """A stdin at which a user types Ctrl-C."""

    def read(self, *_):
        signal.raise_signal(signal.SIGINT)
        return b"{}"


def test_ctrl_c_interrupts_reading_stdin(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Interrupted()))
    read = []

    async def command():
        read.append(read_bytes("-"))

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(command())
    assert read == []


def test_interruptible_restores_signal_handler(monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    assert read_bytes("-") == b"{}"
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_before_start_prints_no_warning(home, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio, "run", interrupted)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert home.run("wallet", "show").code == 130
        gc.collect()
    assert [str(each.message) for each in caught if "never awaited" in str(each.message)] == []


def test_terminable_changes_nothing_outside_the_main_thread():
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(_enter_terminable).result()


def _enter_terminable():
    with terminable():
        return True
