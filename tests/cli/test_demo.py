import json
import signal
import tempfile
from pathlib import Path

import pytest

from nexus_tools.cli.demo.terminal import open_terminal
from nexus_tools.cli.framework import Output
from nexus_tools.errors import NexusError


@pytest.fixture
def temporary(tmp_path):
    """Return the folder in which the demo creates its own folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def processes_in(folder):
    """Return the IDs of the processes whose working directory is in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append(int(process.name))
        except OSError:  # the process has ended, or belongs to another user
            continue
    return found


def assert_nothing_is_left(home, temporary):
    assert processes_in(temporary) == []
    assert list(temporary.iterdir()) == []
    assert list(home.folder.iterdir()) == [temporary]


@pytest.mark.long
def test_demo_runs_with_any_settings_of_the_user_and_leaves_nothing(home, temporary):
    result = home.spawn(
        *("demo", "--quick", "--json"),
        TMPDIR=str(temporary),
        NEXUS_TOOLS_NETWORK="testnet",
        NEXUS_TOOLS_KEYSTORE="/nowhere/other.keystore",
        SUI_CONFIG_DIR="/nowhere",
        BIND_ADDR="203.0.113.1:1",
    )
    assert result.code == 0, result.stderr
    commands = [entry for step in result.document["steps"] for entry in step["commands"]]
    codes = {entry["command"]: entry["exit_code"] for entry in commands}
    assert codes["nexus-tools tool new greeter"] == 0
    claims = [entry for entry in commands if " tool claim " in entry["command"]]
    assert [claim["exit_code"] for claim in claims] == [4, 0]
    assert "delay is not over" in claims[0]["output"]
    assert "claimed 1 SUI" in claims[1]["output"]
    assert not [command for command in codes if " workflow " in command]
    assert_nothing_is_left(home, temporary)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_demo_stops_its_servers_when_it_is_interrupted(home, temporary, number):
    demo = home.process("demo", TMPDIR=str(temporary))
    for line in demo.stdout:
        if "a Sui network listens" in line:
            break
    assert len(processes_in(temporary)) >= 2
    demo.send_signal(number)
    assert demo.wait(timeout=60) == 130
    assert demo.stderr.read().strip() == "stopped"
    assert_nothing_is_left(home, temporary)


def test_demo_names_the_missing_extra(home, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['sui_sandbox'] = None\n")
    result = home.spawn("demo", "--json", PYTHONPATH=str(tmp_path))
    assert (result.code, result.error["code"]) == (2, "extra_not_installed")
    assert "nexus-tools[localnet]" in result.error["hint"]


@pytest.fixture
async def terminal(temporary, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    async with open_terminal(Output(as_json=True)) as terminal:
        terminal.title("A step")
        yield terminal


async def test_terminal_fails_if_a_command_exits_with_another_code(terminal):
    with pytest.raises(NexusError, match="no-fqn` exited with code 7 instead of 0") as error:
        await terminal.run("tool", "show", "no-fqn")
    assert error.value.code == "demo_failed"
    [command] = error.value.details["steps"][0]["commands"]
    assert "is not a valid FQN" in command["output"]


async def test_terminal_fails_if_a_server_ends_before_it_is_ready(terminal):
    with pytest.raises(NexusError, match="` ended early"):
        await terminal.start("tool", "serve", "absent.py", until="at http")


async def test_terminal_ends_its_servers_and_deletes_its_folder(temporary, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    async with open_terminal(Output(as_json=True)) as terminal:
        terminal.title("A step")
        await terminal.run("tool", "new", "greeter")
        words = ("tool", "serve", "greeter/tools.py", "--bind", "127.0.0.1:0")
        line = await terminal.start(*words, until=" at http")
        assert "xyz.example.greeter@1 at http://127.0.0.1:" in line
        assert len(processes_in(temporary)) == 1
    assert processes_in(temporary) == []
    assert list(temporary.iterdir()) == []
    assert json.dumps(terminal.steps)


async def test_terminal_prints_only_titles_when_it_is_quiet(temporary, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    async with open_terminal(Output(quiet=True)) as terminal:
        terminal.title("Create a tool")
        await terminal.run("tool", "new", "greeter")
    assert capsys.readouterr().out.split("\n") == ["", " 1  Create a tool", ""]
