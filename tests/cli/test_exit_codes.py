"""Every exit code that the command line promises, each by one case; the others stand elsewhere."""

import io
import os
import pty
import signal
import socket
import subprocess
import sys

import pytest


def test_0_done(home):
    assert home.run("network", "list").code == 0


def test_1_failed_because_the_user_declined(author, registered):
    result = answer(author, "n\n", "tool", "unregister", registered)
    assert result.returncode == 1
    assert "you declined" in result.stderr
    assert author.json("tool", "show", registered)["state"] == "active"


def test_what_the_user_agrees_to_is_done(author, registered):
    result = answer(author, "y\n", "tool", "unregister", registered)
    assert result.returncode == 0
    assert "Not sent yet. Simulated: unregistered" in result.stderr
    assert author.json("tool", "show", registered)["state"] == "unregistered"


def test_2_wrong_usage(home):
    assert home.fails("tool", "serve") == (2, "usage")


def test_3_not_found(author):
    assert author.fails("tool", "show", "xyz.test.nobody@1") == (3, "tool_unknown")


def test_4_not_now(author, registered):
    assert author.fails("tool", "claim", registered, "--yes") == (4, "not_unregistered")


def test_5_refused_on_chain(author, definition, meta_file):
    settings = author.settings
    settings["deployments"]["test"]["package_id"] = "0x2"  # which has no such functions
    author.configure(**settings)
    arguments = ("tool", "register", "--from-meta", meta_file(definition), "--yes")
    assert author.fails(*arguments) == (5, "function_not_found")


def test_6_unreachable(author):
    assert author.fails("tool", "validate", "http://127.0.0.1:1") == (6, "tool_unreachable")


@pytest.fixture
def silent_url():
    """Where connections are taken and nothing is said."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    "command",
    [
        ("wallet", "show"),
        ("tool", "list"),
        ("leader", "status"),
        ("localnet", "faucet"),
        ("tool", "unregister", "xyz.example.math.divide@1", "--yes"),
    ],
)
def test_6_a_silent_node_is_told_in_time_and_who_wants_waits_longer(author, silent_url, command):
    settings = author.settings
    settings["networks"]["test"] = {"url": silent_url, "faucet_url": silent_url}
    author.configure(**settings)
    result = author.run(*command, "--json", NEXUS_TOOLS_TIMEOUT="200ms")
    assert result.code == 6
    assert "no answer within 0.2 s" in result.error["message"]
    assert "config set timeout" in result.error["hint"]


def test_people_wait_for_ten_seconds(home):
    assert home.json("config", "show")["timeout"] == "10s"
    home.json("config", "set", "timeout", "1m")
    assert home.json("config", "show")["timeout"] == "1m"
    assert home.fails("config", "set", "timeout", "soon") == (2, "duration_invalid")


def test_7_validation_failed(author):
    assert author.fails("tool", "show", "add@1") == (7, "fqn_invalid")


def test_8_not_allowed(stranger, registered):
    assert stranger.fails("tool", "unregister", registered, "--yes") == (8, "not_owner")


@pytest.mark.parametrize("verb", ["unregister", "claim"])
def test_without_a_key_there_is_nothing_to_sign_with(author, registered, verb):
    (author.data / "sui.keystore").unlink()
    assert author.fails("tool", verb, registered, "--yes") == (3, "wallet_empty")


class Interrupted(io.StringIO):
    """A terminal at which somebody types Ctrl-C, and goes on waiting if nothing comes of it."""

    waits_on = False

    def isatty(self):
        return True

    def readline(self, *_):
        signal.raise_signal(signal.SIGINT)
        self.waits_on = True
        return "y\n"


@pytest.mark.parametrize("command", [("unregister",), ("update", "--price", "0.1")])
def test_130_stopped_at_a_question(author, registered, command):
    before = author.json("tool", "show", registered)
    terminal = Interrupted()
    result = author.run("tool", *command, registered, stdin=terminal)
    assert (result.code, terminal.waits_on) == (130, False)
    assert result.stderr.split()[-1] == "stopped"
    assert author.json("tool", "show", registered) == before


def answer(home, text, *arguments):
    """Run a command on a terminal on which somebody types `text`."""
    master, terminal = pty.openpty()
    try:
        os.write(master, text.encode())
        return subprocess.run(
            [sys.executable, "-m", "nexus_tools", *arguments],
            env={**os.environ, **home.environment},
            stdin=terminal,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(master)
        os.close(terminal)
