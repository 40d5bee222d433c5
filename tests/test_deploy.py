"""The settings, commands and health port in `deploy/` exist."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from nexus_tools.cli.app import app
from nexus_tools.leader import LeaderConfig
from nexus_tools.settings.environment import LEADER_PREFIX

DEPLOY = Path(__file__).parent.parent / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
UNIT = DEPLOY / "nexus-tools-leader.service"


def of_unit(key):
    return re.findall(rf"^{key}=(.*)$", UNIT.read_text(), re.MULTILINE)


def instruction(name):
    """Return the last instruction of that name in the Dockerfile, on one line."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", joined, re.MULTILINE)[-1]


def variables(text):
    return dict(re.findall(rf"{LEADER_PREFIX}([A-Z_]+)=(\S+)", text))


@pytest.mark.parametrize("text", [DOCKERFILE, UNIT.read_text(), json.dumps(COMPOSE)])
def test_variables_are_settings_with_allowed_values(text):
    found = {name.lower(): value for name, value in variables(text).items()}
    environment = {f"{LEADER_PREFIX}{name.upper()}": value for name, value in found.items()}
    LeaderConfig.load({f"{LEADER_PREFIX}JOURNAL": "journal.sqlite", **environment})


def parsed(arguments):
    """Return the module of the `nexus-tools` command with these valid arguments."""
    command = app
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.get_command(click.Context(command), name)
    command.make_context(name, arguments)
    return command.callback.__module__


@pytest.mark.parametrize(
    "arguments",
    [
        json.loads(instruction("CMD")),
        COMPOSE["services"]["leader"]["command"],
        shlex.split(of_unit("ExecStart")[0])[1:],
    ],
)
def test_command_is_that_of_the_leader(arguments):
    assert parsed(arguments) == "nexus_tools.cli.leader.run"


def test_health_check_uses_the_served_address():
    port = variables(DOCKERFILE)["HEALTH_PORT"]
    assert instruction("EXPOSE") == port
    assert f"127.0.0.1:{port}/healthz" in instruction("HEALTHCHECK --interval=15s")
    assert COMPOSE["services"]["leader"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert variables(DOCKERFILE)["HEALTH_HOST"] == "0.0.0.0"


def test_leader_is_unprivileged_and_the_volume_is_its_home():
    assert instruction("USER") == "10001:10001"
    home = re.search(r"HOME=(\S+)", instruction("ENV"))[1]
    assert instruction("VOLUME") == home
    assert COMPOSE["services"]["leader"]["volumes"] == [f"leader:{home}"]
    assert of_unit("User") == ["nexus-tools"]
    assert f"HOME={home}" in of_unit("Environment")


def test_stop_timeout_exceeds_the_shutdown_time():
    seconds = LeaderConfig.model_fields["stop_timeout_ms"].default / 1000
    assert int(of_unit("TimeoutStopSec")[0]) > seconds
    assert int(COMPOSE["services"]["leader"]["stop_grace_period"].rstrip("s")) > seconds


def test_file_limit_suffices_for_all_calls():
    calls = LeaderConfig.model_fields["max_concurrent"].default
    assert int(of_unit("LimitNOFILE")[0]) >= 3 * calls + 256
    assert COMPOSE["services"]["leader"]["ulimits"]["nofile"] >= 3 * calls + 256


def test_files_of_the_image_exist():
    for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE):
        for name in line.split():
            assert (DEPLOY.parent / name).exists(), name


def test_unit_directives_are_in_their_sections_once():
    """systemd ignores unknown directives; a filter may be repeated."""
    sections = re.split(r"^\[(\w+)\]$", UNIT.read_text(), flags=re.MULTILINE)[1:]
    assert sections[::2] == ["Unit", "Service", "Install"]
    for text in sections[1::2]:
        names = re.findall(r"^(\w+)=", text, re.MULTILINE)
        repeated = {name for name in names if names.count(name) > 1}
        assert repeated <= {"Environment", "SystemCallFilter"}
