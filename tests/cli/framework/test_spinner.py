"""Tests of the spinner that a terminal shows while a command waits."""

import os
import pty
import threading
from contextlib import contextmanager, redirect_stderr

import pytest

from nexus_tools.cli.framework import Output
from nexus_tools.cli.framework.output import spinner

SHOW_CURSOR = "\x1b[?25h"


class Screen:
    """The output of a terminal so far."""

    def __init__(self, terminal):
        self._terminal = terminal
        self._text = ""
        self._drawn = threading.Condition()

    def read(self):
        while text := self._read():
            with self._drawn:
                self._text += text
                self._drawn.notify_all()

    def _read(self):
        try:
            return os.read(self._terminal, 4_096).decode()
        except OSError:  # the other end is closed
            return ""

    def wait_for(self, word):
        with self._drawn:
            assert self._drawn.wait_for(lambda: word in self._text, timeout=30)
            return self._text

    def __str__(self):
        return self._text


@contextmanager
def on_a_terminal():
    """The time in which stderr is a terminal."""
    master, terminal = pty.openpty()
    screen = Screen(master)
    reader = threading.Thread(target=screen.read)
    reader.start()
    with os.fdopen(terminal, "w") as stderr, redirect_stderr(stderr):
        yield screen
    reader.join(30)
    os.close(master)


@pytest.fixture(autouse=True)
def terminal_type(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(spinner, "_DELAY_S", 0)


@pytest.mark.usefixtures("at_once")
def test_spinner_shows_and_clears_for_long_operations():
    with on_a_terminal() as screen, Output().progress("asking the network"):
        screen.wait_for("asking the network")
    assert SHOW_CURSOR in str(screen)


@pytest.mark.usefixtures("at_once")
def test_ctrl_c_clears_spinner():
    def interrupted():
        with Output().progress("asking the network"):
            screen.wait_for("asking the network")
            raise KeyboardInterrupt

    with on_a_terminal() as screen, pytest.raises(KeyboardInterrupt):
        interrupted()
    assert SHOW_CURSOR in str(screen)


def test_spinner_stays_hidden_for_short_operations():
    with on_a_terminal() as screen, Output().progress("asking the network"):
        pass
    assert str(screen) == ""


def test_spinner_shows_for_many_short_steps(monkeypatch):
    now_s = 100.0
    monkeypatch.setattr("nexus_tools.cli.framework.output.output.perf_counter", lambda: now_s)
    output = Output()
    now_s = 100.3
    with on_a_terminal() as screen, output.progress("asking the network"):
        screen.wait_for("asking the network")
    with on_a_terminal() as screen:
        output.note("found it")
        with output.progress("asking the network"):
            pass
    assert "asking" not in str(screen)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("output", [Output(as_json=True), Output(quiet=True)])
def test_spinner_stays_hidden_for_json(output):
    with on_a_terminal() as screen, output.progress("asking the network"):
        pass
    assert str(screen) == ""


@pytest.mark.usefixtures("at_once")
def test_spinner_stays_hidden_without_terminal(capsys):
    with Output().progress("asking the network"):
        pass
    assert capsys.readouterr() == ("", "")
