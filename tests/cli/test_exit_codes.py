"""Every exit code that the command line promises, each by one case; the others stand elsewhere."""

import io
import os
import pty
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest


def test_0_done(home):
    assert home.run("network", "list").code == 0


def test_1_failed_because_the_user_declined(author, registered_fqn):
    result = answer(author, "n\n", "tool", "unregister", registered_fqn)
    assert result.returncode == 1
    assert "cancelled: nothing was done" in result.stderr
    assert author.json("tool", "show", registered_fqn)["state"] == "active"


def test_confirmed_command_is_executed(author, registered_fqn):
    result = answer(author, "y\n", "tool", "unregister", registered_fqn)
    assert result.returncode == 0
    assert "The simulation succeeded: unregistered" in result.stderr
    assert author.json("tool", "show", registered_fqn)["state"] == "unregistered"


def test_2_wrong_usage(home):
    assert home.fails("tool", "serve") == (2, "usage")


def test_3_not_found(author):
    assert author.fails("tool", "show", "xyz.test.nobody@1") == (3, "tool_unknown")


def test_4_not_now(author, registered_fqn):
    assert author.fails("tool", "claim", registered_fqn, "--yes") == (4, "not_unregistered")


@pytest.mark.usefixtures("compiler")
def test_5_refused_on_chain(author, tmp_path):
    package = tmp_path / "aborting"
    (package / "sources").mkdir(parents=True)
    (package / "Move.toml").write_text('[package]\nname = "aborting"\nedition = "2024"\n')
    (package / "sources" / "main.move").write_text(
        "module aborting::main;\nfun init(_: &mut TxContext) { abort 7 }\n"
    )
    assert author.fails("package", "publish", str(package), "--yes")[0] == 5


def test_6_unreachable(author):
    assert author.fails("tool", "validate", "http://127.0.0.1:1") == (6, "tool_unreachable")


@pytest.fixture
def silent_node():
    """Where connections are taken and nothing is said."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def connections(server):
    """How many came; one that ended before all are counted would be followed by another."""
    with ExitStack() as stack:
        return len([stack.enter_context(each) for each in iter(lambda: _accept(server), None)])


def _accept(server):
    try:
        return server.accept()[0]
    except BlockingIOError:
        return None


@pytest.mark.parametrize(
    "command",
    [
        ("wallet", "show"),
        ("tool", "list"),
        ("status",),
        ("leader", "status"),
        ("invocation", "list"),
        ("tool", "invoke", "xyz.example.math.divide@1", "--input", "{}"),
        ("localnet", "faucet"),
        ("tool", "unregister", "xyz.example.math.divide@1", "--yes"),
    ],
)
def test_6_silent_node_is_queried_once_and_the_hint_names_timeout(author, silent_node, command):
    silent_url = f"http://127.0.0.1:{silent_node.getsockname()[1]}"
    settings = author.settings
    settings["networks"]["test"] = {"url": silent_url, "faucet_url": silent_url}
    author.configure(**settings)
    result = author.run(*command, "--json", NEXUS_TOOLS_TIMEOUT="200ms")
    assert result.code == 6
    assert "no response within 0.2 s" in result.error["message"]
    assert "config set timeout" in result.error["hint"]
    assert connections(silent_node) == 1


def test_timeout_is_ten_seconds_by_default(home):
    assert home.json("config", "show")["timeout"] == "10s"
    home.json("config", "set", "timeout", "1m")
    assert home.json("config", "show")["timeout"] == "1m"
    assert home.fails("config", "set", "timeout", "soon") == (2, "duration_invalid")


def test_7_validation_failed(author):
    assert author.fails("tool", "show", "add@1") == (7, "fqn_invalid")


def test_8_not_allowed(stranger, registered_fqn):
    assert stranger.fails("tool", "unregister", registered_fqn, "--yes") == (8, "not_owner")


@pytest.mark.parametrize("verb", ["unregister", "claim"])
def test_commands_fail_without_a_key(author, registered_fqn, verb):
    (author.data / "sui.keystore").unlink()
    assert author.fails("tool", verb, registered_fqn, "--yes") == (3, "wallet_empty")


class Interrupted(io.StringIO):
    """A terminal at which a user types Ctrl-C, and then `y` if the command continues."""

    waits_on = False

    def isatty(self):
        return True

    def readline(self, *_):
        signal.raise_signal(signal.SIGINT)
        self.waits_on = True
        return "y\n"


@pytest.mark.parametrize("command", [("unregister",), ("update", "--price", "0.1")])
def test_130_stopped_at_a_question(author, registered_fqn, command):
    before = author.json("tool", "show", registered_fqn)
    terminal = Interrupted()
    result = author.run("tool", *command, registered_fqn, stdin=terminal)
    assert (result.code, terminal.waits_on) == (130, False)
    assert result.stderr.split()[-1] == "stopped"
    assert author.json("tool", "show", registered_fqn) == before


def answer(home, text, *arguments):
    """Run a command on a terminal at which a user types `text`."""
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
