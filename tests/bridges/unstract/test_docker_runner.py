import asyncio
import json
import os

import pytest

from nexus_tools.bridges import Naming
from nexus_tools.bridges.sandbox import ProcessLimits, ScratchDirectory
from nexus_tools.bridges.unstract import UnstractBridge
from nexus_tools.bridges.unstract.runner import Command, DockerRunner, docker_command
from nexus_tools.bridges.unstract.storage import Storage
from nexus_tools.errors import UnreachableError, UsageError

LIMITS = ProcessLimits(time_ms=20_000, memory_bytes=1_000_000, processes=9)

# A replacement of the program `docker` that records its calls and then runs `$DOES`.
RECORDER = """#!/bin/sh
printf '%s\\n' "$*" >> "$(dirname "$0")/calls"
env > "$(dirname "$0")/environment"
case "$1" in run) {run} ;; version) {version} ;; esac
"""


@pytest.fixture
def docker(tmp_path, make_host):
    """Return a host whose `docker` is a script, and the calls of the script."""

    def make(run=":", version=":", **how):
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "docker"
        program.write_text(RECORDER.format(run=run, version=version))
        program.chmod(0o755)
        host = make_host(PATH=f"{folder}:{os.environ['PATH']}", **how)
        return host, lambda: (folder / "calls").read_text().splitlines()

    return make


def command_with(scratch, storage=None, **how):
    arguments = ["--command", "RUN", "--settings", "{}"]
    return Command(arguments, scratch, LIMITS, {"KEY": "secret"}, storage, **how)


def line_of(tmp_path, storage=None, *, has_network=False, **how):
    command = command_with(ScratchDirectory(tmp_path), storage, **how)
    image, variables = "unstract/sorter:1", ("KEY",)
    return docker_command(image, "the-name", command, variables, "7:8", has_network=has_network)


def after(line, option):
    return line[line.index(option) + 1]


def test_container_is_removed_limited_and_unprivileged(tmp_path):
    line = line_of(tmp_path)
    assert line[:3] == ["docker", "run", "--rm"]
    assert after(line, "--name") == "the-name"
    assert after(line, "--memory") == "1000000b"
    assert after(line, "--pids-limit") == "9"
    assert after(line, "--cap-drop") == "ALL"
    assert after(line, "--security-opt") == "no-new-privileges"
    assert after(line, "--user") == "7:8"


def test_protocol_arguments_follow_the_image(tmp_path):
    line = line_of(tmp_path)
    assert line[-5:] == ["unstract/sorter:1", "--command", "RUN", "--settings", "{}"]


def test_variable_values_are_not_on_the_command_line(tmp_path):
    line = line_of(tmp_path)
    assert "KEY" in line
    assert "secret" not in " ".join(line)


def test_data_directory_is_the_only_volume(tmp_path):
    line = line_of(tmp_path, Storage(tmp_path / "a,b", "local"))
    source = f"{tmp_path}/a,b/execution-data/run"
    assert after(line, "--mount") == f'type=bind,"source={source}",target=/data'
    assert line.count("--mount") == 1
    assert "--volume" not in line


@pytest.mark.parametrize(("mode", "network"), [("local", "none"), ("s3", "host"), ("auto", "host")])
def test_only_a_tool_with_a_bucket_uses_the_host_network(tmp_path, mode, network):
    assert after(line_of(tmp_path, Storage(tmp_path, mode)), "--network") == network


def test_container_has_its_own_network_when_a_port_is_allowed(tmp_path):
    line = line_of(tmp_path, Storage(tmp_path, "local"), has_network=True)
    assert after(line, "--network") == "bridge"


def test_standard_input_is_open_only_with_input(tmp_path):
    assert "--interactive" not in line_of(tmp_path)
    assert "--interactive" in line_of(tmp_path, input=b"{}")


async def test_container_has_only_its_own_variables(docker, tmp_path):
    host, _ = docker(shared=("SHARED",), SHARED="yes", PRIVATE="no")
    async with ScratchDirectory(tmp_path) as scratch:
        await DockerRunner(host, "image").run(command_with(scratch))
    environment = (tmp_path / "bin" / "environment").read_text().splitlines()
    assert {"KEY=secret", "SHARED=yes"} <= set(environment)
    assert not any(line.startswith("PRIVATE") for line in environment)


async def test_unresponsive_daemon_is_a_host_error(docker, tmp_path):
    message = "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock."
    host, _ = docker(run=f"echo '{message}' >&2; exit 125")
    async with ScratchDirectory(tmp_path) as scratch:
        with pytest.raises(UnreachableError) as caught:
            await DockerRunner(host, "image").run(command_with(scratch))
    assert caught.value.code == "docker_unreachable"
    assert "Cannot connect" in caught.value.message
    assert "docker version" in caught.value.hint


async def test_cancelled_run_removes_its_container_by_name(docker, tmp_path):
    host, calls = docker(run="echo started; exec sleep 600")
    started = asyncio.Event()
    async with ScratchDirectory(tmp_path) as scratch:
        command = command_with(scratch, on_stdout=lambda _: started.set())
        running = asyncio.ensure_future(DockerRunner(host, "image").run(command))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    run, removal = calls()
    assert removal == f"rm --force {after(run.split(), '--name')}"


async def test_completed_run_removes_nothing(docker, tmp_path):
    host, calls = docker(run="exit 1")
    async with ScratchDirectory(tmp_path) as scratch:
        finished = await DockerRunner(host, "image").run(command_with(scratch))
    assert finished.exit_code == 1
    assert len(calls()) == 1


@pytest.mark.parametrize(("version", "responds"), [("echo 27.0", True), ("exit 1", False)])
async def test_health_checks_the_daemon(docker, version, responds):
    host, _ = docker(version=version)
    assert await DockerRunner(host, "image").checks() == {"docker": responds}


async def test_image_of_a_folder_runs_and_returns_its_files(docker, write_tool):
    """The script acts like a container, with the mounted folder instead of /data."""
    result = json.dumps({"type": "RESULT", "result": {"output": "sorted"}})
    source = 'data=$(printf "%s" "$*" | sed "s/.*source=\\([^\\"]*\\)\\".*/\\1/")'
    run = f'{source}; cp "$data/INFILE" "$data/COPY_TO_FOLDER/out"; echo \'{result}\''
    host, _ = docker(run=run)
    place = write_tool(None)
    bridge = UnstractBridge(image="unstract/sorter:1", storage="local")
    [tool] = (await bridge.discover(place, host, Naming())).tools
    outcome = await tool.invoke({"file": {"name": "a.txt", "text": "hello"}})
    assert outcome.variant == "ok"
    assert outcome.ports["output"] == "sorted"
    assert outcome.ports["files"] == [{"path": "out", "text": "hello"}]


@pytest.mark.parametrize("image", ["", " ", "--privileged"])
def test_invalid_image_name_is_refused(image):
    with pytest.raises(UsageError):
        UnstractBridge(image=image)
