"""Ctrl-C and SIGTERM while a command waits for stdin, serves, or ends."""

import asyncio
import gc
import io
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def run_program(program):
    """Run a program in another process, because a signal may end that process."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=False, capture_output=True, text=True)


STOPPED_TWICE = """
import asyncio, signal
from nexus_tools.cli.framework import until_stopped

async def serve():
    signal.raise_signal({number})
    await asyncio.Event().wait()

async def command():
    await until_stopped(serve())
    signal.raise_signal({number})
    await asyncio.sleep(0)
    print("closed")

asyncio.run(command())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_server_ignores_second_signal_while_it_closes_connections(number):
    ended = run_program(STOPPED_TWICE.format(number=int(number)))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "closed\n", "")


def test_ctrl_c_during_an_error_message_shows_no_traceback():
    ended = run_program(
        "import click, signal, sys\n"
        "from nexus_tools.cli import app, main\n"
        "click.echo = click.secho = lambda *_, **__: signal.raise_signal(signal.SIGINT)\n"
        "sys.argv[1:] = ['unknown']\n"
        "main()"
    )
    assert (ended.returncode, ended.stderr) == (130, "")


def test_ctrl_c_while_python_shuts_down_shows_no_traceback():
    ended = run_program(
        "import atexit, signal, sys\n"
        "from nexus_tools.cli import main\n"
        "atexit.register(signal.raise_signal, signal.SIGINT)\n"
        "sys.argv[1:] = ['--version']\n"
        "main()"
    )
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


DEMO = """
import asyncio, signal, sys, tempfile
from pathlib import Path
from nexus_tools.cli.demo.terminal import open_terminal
from nexus_tools.cli.framework import Output

class Interrupted(tempfile.TemporaryDirectory):
    def cleanup(self):
        signal.raise_signal(signal.SIGTERM)
        super().cleanup()

open_terminal.__wrapped__.__globals__["TemporaryDirectory"] = Interrupted

async def command():
    async with open_terminal(Output()) as terminal:
        print(terminal._folder)

asyncio.run(command())
"""


def test_demo_removes_its_folder_when_sigterm_arrives_at_the_end():
    ended = run_program(DEMO)
    assert ended.stderr == ""
    assert not Path(ended.stdout.strip()).exists()
