"""`nexus-tools` of the pages: a command in a fork behaves like a command in a new process."""

import os
import signal
import subprocess

import pytest

from documents import environment_of
from documents.terminal import Terminal
from documents.walk import PROGRAMS


@pytest.fixture
def environment(tmp_path, warm_programs):
    return environment_of(tmp_path / "home", warm_programs, PROGRAMS)


@pytest.mark.parametrize(
    "script",
    [
        "nexus-tools --version",
        "nexus-tools wallet nope",
        "nexus-tools config show | head -1",
        "NEXUS_TOOLS_NETWORK=other nexus-tools config show --json",
        "cd inner && nexus-tools tool validate definition.json",
        "nexus-tools tool validate - <inner/definition.json",
        "nexus-tools wallet list >out 2>&1; cat out",
        "umask 027; nexus-tools workflow new flow -q; ls -lR flow | cut -c1-10",
    ],
)
def test_command_behaves_like_a_new_process(script, tmp_path, warm_programs):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/definition.json").write_text('{"fqn": "xyz.example.none"}')
    results = []
    for programs in ((warm_programs,), ()):
        done = subprocess.run(
            ("sh", "-c", f"rm -rf flow; {script}"),
            cwd=tmp_path,
            env=environment_of(tmp_path / "home", *programs, PROGRAMS),
            capture_output=True,
            check=False,
        )
        results.append((done.returncode, done.stdout, done.stderr))
    assert results[0] == results[1]
    assert results[0][1] + results[0][2]


def started(environment):
    """Start a localnet in the foreground, and wait until it is ready."""
    process = subprocess.Popen(
        ("nexus-tools", "localnet", "start", "--port", "0"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert any("press Ctrl-C" in line for line in process.stdout)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_command(number, environment):
    with started(environment) as process:
        process.send_signal(number)
        assert process.stdout.read() == "stopped\n"
    assert process.returncode == 0


def test_command_ends_when_its_client_is_killed(environment):
    with started(environment) as process:
        process.kill()
        process.stdout.read()  # ends when no process has the pipe


def test_client_ends_by_the_signal_that_ended_the_command(environment):
    with started(environment) as process:
        listed = ("nexus-tools", "localnet", "status", "--json")
        status = subprocess.run(listed, env=environment, capture_output=True, check=True)
        pid = int(status.stdout.split(b'"pid": ')[1].split(b",")[0])
        assert pid != process.pid
        os.kill(pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def test_command_sees_the_terminal(tmp_path, environment):
    terminal = Terminal.shell(tmp_path, environment, watched=True)
    terminal.type("python -c 'import os; print(os.isatty(1))' && nexus-tools --version")
    output, status = terminal.output()
    terminal.close()
    assert (output.split()[:2], status) == (["True", "nexus-tools,"], 0)
