"""What a shell is told when a person presses the tabulator key."""

import socket
import subprocess
import sys
from contextlib import ExitStack, suppress

import pytest


def complete(home, *words, **environment):
    """The completions of the last word, as bash asks for them."""
    done = home.run(
        _NEXUS_TOOLS_COMPLETE="bash_complete",
        COMP_WORDS=" ".join(("nexus-tools", *words)),
        COMP_CWORD=str(len(words)),
        **environment,
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.split()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["wal"], ["wallet"]),
        (["tool", "un"], ["unregister"]),
        (["localnet", "advance-"], ["advance-clock", "advance-epoch"]),
        (["tool", "list", "--st"], ["--state"]),
        (["tool", "list", "--state", "cl"], ["claimed"]),
        (["network", "use", "te"], ["testnet"]),
        (["tool", "list", "-n", "main"], ["mainnet"]),
        (["config", "set", "network", "dev"], ["devnet"]),
        (["config", "set", "keystore", "x"], []),
    ],
)
def test_commands_options_choices_and_networks_are_completed(home, words, expected):
    assert complete(home, *words) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["wallet", "show"],
        ["wallet", "rename"],
        ["wallet", "transfer"],
        ["tool", "list", "-w"],
        ["tool", "list", "--owner"],
        ["config", "set", "wallet"],
    ],
)
def test_keys_are_completed_also_those_that_came_a_moment_ago(home, sui_files, words):
    home.json("wallet", "new", "rob")
    assert complete(home, *words, "r") == ["rob"]
    home.json("wallet", "new", "rita")
    sui_files(home.folder)
    assert complete(home, *words, "r") == ["rob", "rita", "ruby"]


@pytest.mark.parametrize("verb", ["show", "invoke", "unregister", "update", "claim"])
def test_fqns_of_the_network_are_completed(author, registered, verb):
    assert complete(author, "tool", verb, registered[:-3]) == [registered]
    assert complete(author, "tool", verb, "-n", "mainnet", registered[:-3]) == []


@pytest.fixture
def silent_network(home):
    """A node that accepts connections and says nothing; its listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        home.configure(network="silent", networks={"silent": {"url": url}})
        listener.settimeout(0)
        yield listener


def test_a_silent_node_is_asked_once_in_a_minute(home, silent_network):
    with ExitStack() as connections:

        def asked():
            """How many connections were made since it was looked last; they stay open."""
            count = 0
            with suppress(BlockingIOError):
                while True:
                    connections.enter_context(silent_network.accept()[0])
                    count += 1
            return count

        assert complete(home, "tool", "show", "xyz") == []
        assert asked() > 0
        assert complete(home, "tool", "show", "xyz") == []
        assert asked() == 0


def test_fqns_that_are_known_are_completed_while_the_node_is_away(author, registered, monkeypatch):
    assert complete(author, "tool", "show", "xyz.test.") != []
    known = author.settings
    known["networks"]["test"]["url"] = "http://127.0.0.1:1"
    author.configure(**known)
    monkeypatch.setattr("time.time", lambda: 2**33)
    assert registered in complete(author, "tool", "show", "xyz.test.")


@pytest.mark.parametrize("words", [["tool", "show", "x"], ["wallet", "show", "x"], ["tool", "sh"]])
def test_a_broken_file_of_settings_completes_nothing_and_says_nothing(home, words):
    home.configure(netwrok="testnet")
    assert complete(home, *words) in ([], ["show"])


def test_names_that_are_kept_are_completed_without_anything_heavy(home):
    """In a process of its own: what it has imported is looked at."""
    home.json("wallet", "new", "rob")
    assert complete(home, "wallet", "show", "r") == ["rob"]
    program = (
        "import atexit, sys; from nexus_tools.cli.app import run\n"
        "atexit.register(lambda: print(sorted({'asyncio', 'grpc', 'pysui'} & set(sys.modules))))\n"
        "run()"
    )
    asked = {
        "_NEXUS_TOOLS_COMPLETE": "bash_complete",
        "COMP_WORDS": "nexus-tools wallet show r",
        "COMP_CWORD": "3",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=home.environment | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["plain,rob", "[]"]


# --- Installing


@pytest.mark.parametrize(
    ("shell", "startup"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", None)]
)
def test_completion_is_installed_once_and_says_what_it_wrote(home, shell, startup):
    if startup:
        (home.folder / startup).write_text("alias ll='ls -l'")
    installed = home.json("completion", "install", SHELL=f"/usr/bin/{shell}")
    assert installed["shell"] == shell
    script = home.folder / "config" / "fish" / "completions" / "nexus-tools.fish"
    if startup:
        script = home.data / "completion" / f"nexus-tools.{shell}"
        first, line = (home.folder / startup).read_text().splitlines()
        assert (first, line.endswith(f". {script}")) == ("alias ll='ls -l'", True)
        assert installed["written"] == [str(script), str(home.folder / startup)]
    assert script.read_text().startswith(home.run("completion", shell).stdout.rstrip())
    again = home.json("completion", "install", shell)
    assert again["written"] == []
    assert "everything is there already" in home.run("completion", "install", shell).stderr


def test_with_print_nothing_is_written(home):
    shown = home.run("completion", "install", "bash", "--print")
    assert "_NEXUS_TOOLS_COMPLETE" in shown.stdout
    assert ".bashrc gets the line: . " in shown.stderr
    assert not (home.folder / ".bashrc").exists()


def test_an_unknown_shell_is_wrong_usage(home):
    assert home.fails("completion", "install", SHELL="/bin/tcsh") == (2, "shell_unknown")
    assert home.fails("completion", "install", "tcsh") == (2, "usage")


def test_bash_completes_after_the_installation(home):
    home.json("wallet", "new", "rob")
    home.json("completion", "install", "bash")
    script = (
        ". ~/.bashrc; COMP_WORDS=(nexus-tools wallet show r); COMP_CWORD=3;"
        ' _nexus_tools_completion nexus-tools; echo "${COMPREPLY[@]}"'
    )
    folder = sys.executable.rpartition("/")[0]
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=home.environment | {"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "rob", done.stderr
