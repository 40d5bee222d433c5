"""Tests of shell completion."""

import json
import socket
import subprocess
import sys

import pytest

OTHERS = ("invoke", "unregister", "update", "claim")


def complete(home, *words, kind="plain", **environment):
    """The completions of the last word, as bash asks for them, and all of that kind."""
    done = home.run(
        _NEXUS_TOOLS_COMPLETE="bash_complete",
        COMP_WORDS=" ".join(("nexus-tools", *words)),
        COMP_CWORD=str(len(words)),
        **environment,
    )
    assert done.stderr == ""
    found = [line.partition(",") for line in done.stdout.split()]
    assert {kind} >= {each for each, _, _ in found}
    return [word for _, _, word in found]


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
    ("words", "kind"),
    [
        (["tool", "serve"], "file"),
        (["tool", "register", "--from-meta"], "file"),
        (["export", "--from-meta"], "file"),
        (["localnet", "trace", "--simulate"], "file"),
        (["localnet", "start", "--framework-from"], "dir"),
        (["package", "bindings"], "dir"),
    ],
)
def test_files_are_left_to_the_shell(home, words, kind):
    assert complete(home, *words, "to", kind=kind) == ["to"]


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
def test_keys_are_completed_including_new_ones(home, sui_files, words):
    home.json("wallet", "new", "rob")
    assert complete(home, *words, "r") == ["rob"]
    home.json("wallet", "new", "rita")
    sui_files(home.folder)
    assert complete(home, *words, "r") == ["rob", "rita", "ruby"]


@pytest.fixture
def silent_node(author):
    """A node that accepts connections and says nothing, where the package was; its socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        known = author.settings
        known["networks"]["test"]["url"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
        author.configure(**known)
        yield listener


@pytest.fixture
def started_processes(monkeypatch):
    """The processes that ask nodes, as they are started; they are ended with the test."""
    started = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    yield started
    for process in started:
        process.returncode = None
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "verb",
    [
        "show",
        *(pytest.param(verb, marks=pytest.mark.long) for verb in OTHERS),
    ],
)
def test_fqns_of_the_network_are_completed(author, registered_fqn, started_processes, verb):
    complete(author, "tool", verb, registered_fqn[:-3])
    [process] = started_processes
    process.returncode = None  # the process that started it does not wait for it any more
    process.wait(timeout=60)
    assert complete(author, "tool", verb, registered_fqn[:-3]) == [registered_fqn]
    assert complete(author, "tool", verb, "-n", "mainnet", registered_fqn[:-3]) == []
    assert len(started_processes) == 1


def test_silent_node_is_queried_once_a_minute_in_the_background(
    author, silent_node, started_processes
):
    assert complete(author, "tool", "show", "xyz") == []
    assert len(started_processes) == 1
    with silent_node.accept()[0]:
        assert complete(author, "tool", "show", "xyz") == []
        assert len(started_processes) == 1
        started_processes[0].returncode = None
        assert started_processes[0].poll() is None


def test_cached_fqns_are_completed_during_a_refresh(
    author, registered_fqn, silent_node, started_processes
):
    kept = author.folder / "cache" / "nexus-tools" / "names.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps({"fqns test": {"stamp": 1, "names": [registered_fqn]}}))
    assert complete(author, "tool", "show", "xyz.test.") == [registered_fqn]
    assert len(started_processes) == 1
    with silent_node.accept()[0]:
        assert complete(author, "tool", "show", "xyz.test.") == [registered_fqn]
        assert len(started_processes) == 1


@pytest.mark.parametrize("words", [["tool", "show", "x"], ["wallet", "show", "x"], ["tool", "sh"]])
def test_broken_settings_file_completes_nothing_silently(home, words):
    home.configure(netwrok="testnet")
    assert complete(home, *words) in ([], ["show"])


def test_cached_names_are_completed_without_heavy_imports(home):
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
def test_completion_is_installed_once_and_names_written_files(home, shell, startup):
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
    assert "completion is already installed" in home.run("completion", "install", shell).stderr


def test_print_option_writes_nothing(home):
    shown = home.run("completion", "install", "bash", "--print")
    assert "_NEXUS_TOOLS_COMPLETE" in shown.stdout
    assert ".bashrc: . " in shown.stderr
    assert not (home.folder / ".bashrc").exists()


def test_unknown_shell_is_wrong_usage(home):
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
