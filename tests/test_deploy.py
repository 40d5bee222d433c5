"""The settings, commands and health port in `deploy/` exist."""

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
import yaml

from nexus_tools.cli.app import app
from nexus_tools.leader import LeaderConfig, LeaderMetrics
from nexus_tools.settings.environment import LEADER_PREFIX
from tests.postgres import find_programs

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


# --- The index

INDEX_UNIT = DEPLOY / "nexus-tools-index.service"


def directives(unit):
    return [line for line in unit.read_text().splitlines() if line and not line.startswith("#")]


def test_index_unit_runs_the_index_and_its_api():
    [program] = re.findall(r"^ExecStart=(.*)$", INDEX_UNIT.read_text(), re.MULTILINE)
    assert parsed(shlex.split(program)[1:]) == "nexus_tools.cli.index.serve"


def test_index_unit_has_the_restrictions_of_the_leader_unit():
    own = ("Description=", "Environment=NEXUS_TOOLS_LEADER_", "EnvironmentFile=", "ExecStart=")
    own += ("RestartPreventExitStatus=",)
    index, leader = (
        [line for line in directives(unit) if not line.startswith(own)]
        for unit in (INDEX_UNIT, UNIT)
    )
    assert index == leader


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", [UNIT, INDEX_UNIT], ids=lambda unit: unit.stem)
def test_systemd_accepts_the_unit(unit, tmp_path):
    """Only the program differs, because it need not be installed on this machine."""
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/nexus-tools/bin/nexus-tools", "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", copy]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- The image


def test_context_of_the_image_contains_only_the_copied_files():
    copied = {
        name
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for name in line.split()
    }
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    patterns = [line for line in ignored if not line.startswith("#")]
    assert patterns[0] == "*"
    assert {line.removeprefix("!") for line in patterns if line.startswith("!")} == copied


def test_packages_of_the_image_have_the_locked_hashes():
    commands = [line for line in DOCKERFILE.replace("\\\n", " ").split("\n") if "install" in line]
    installs = [line for line in commands if "pip install" in line]
    assert len(installs) == 2
    assert "--require-hashes -r uv.lock" in installs[0]
    assert re.search(r"--constraints requirements.lock +--build-constraints", installs[1])


# --- A fleet

FLEET = yaml.safe_load((DEPLOY / "fleet.compose.yaml").read_text())["services"]
RULES = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text())
LEADERS = ("leader-a", "leader-b")


def test_fleet_has_the_restrictions_of_a_single_leader():
    single = COMPOSE["services"]["leader"]
    own = {"ports", "volumes", "hostname", "environment", "depends_on"}
    for name in LEADERS:
        assert {key: value for key, value in FLEET[name].items() if key not in own} == {
            key: value for key, value in single.items() if key not in own
        }
        assert FLEET[name]["hostname"] == name
    [a, b] = [FLEET[name]["volumes"] for name in LEADERS]
    assert a != b


@pytest.mark.parametrize("service", LEADERS)
def test_fleet_variables_are_settings(service):
    settings = {
        name: value
        for name, value in FLEET[service]["environment"].items()
        if name.startswith(LEADER_PREFIX)
    }
    assert LeaderConfig.load(settings).journal.schema == "nexus_leader"


def test_fleet_creates_its_journal_as_the_owner_before_it_starts():
    command = FLEET["journal"]["command"]
    assert parsed(command) == "nexus_tools.cli.leader.journal"
    owner, worker = (
        urlsplit(url)
        for url in (command[3], FLEET["leader-a"]["environment"][f"{LEADER_PREFIX}JOURNAL"])
    )
    assert owner.username == FLEET["db"]["environment"]["POSTGRES_USER"]
    assert owner.path == worker.path == f"/{FLEET['db']['environment']['POSTGRES_DB']}"
    assert worker.username == command[command.index("--grant") + 1]
    assert f"CREATE ROLE {worker.username} LOGIN" in (DEPLOY / "fleet-roles.sh").read_text()
    for name in LEADERS:
        condition = FLEET[name]["depends_on"]["journal"]["condition"]
        assert condition == "service_completed_successfully"


@pytest.fixture
def database(postgres):
    """Return the name of a new database, and drop its roles at the end."""
    name = f"fleet_{secrets.token_hex(8)}"
    postgres.execute(f"CREATE DATABASE {name}")
    yield name
    postgres.execute(f"DROP DATABASE {name}")
    postgres.execute("DROP ROLE leader_worker")


def test_fleet_script_creates_the_role_of_the_leaders(postgres, database, tmp_path):
    [mount] = [volume for volume in FLEET["db"]["volumes"] if volume.startswith("./")]
    script = tmp_path / "roles.sh"
    # Only the name of the database differs.
    text = (DEPLOY / mount.split(":")[0]).read_text()
    script.write_text(text.replace("DATABASE leader ", f"DATABASE {database} "))
    environment = {
        "PATH": f"{find_programs()}:{os.environ['PATH']}",
        "PGHOST": str(postgres.folder),
        "WORKER_PASSWORD": "it's",
        "POSTGRES_USER": "postgres",
        "POSTGRES_DB": database,
    }
    subprocess.run(["sh", script], env=environment, capture_output=True, check=True)
    statement = (
        "SELECT rolcanlogin, rolpassword IS NOT NULL,"
        " has_database_privilege(rolname, %s, 'CONNECT'),"
        " has_database_privilege(rolname, %s, 'CREATE') FROM pg_authid WHERE rolname = %s"
    )
    privileges = postgres.execute(statement, (database, database, "leader_worker"))
    assert privileges == [(True, True, True, False)]
    assert os.access(DEPLOY / mount.split(":")[0], os.X_OK)


def test_alerts_use_existing_metrics():
    samples = {
        sample.name for metric in LeaderMetrics().registry.collect() for sample in metric.samples
    }
    families = {metric.name for metric in LeaderMetrics().registry.collect()}
    rules = [rule for group in RULES["groups"] for rule in group["rules"]]
    assert len(rules) == len({rule["alert"] for rule in rules})
    for rule in rules:
        for name in re.findall(r"nexus_leader_\w+", rule["expr"]):
            assert name in samples or name.removesuffix("_total") in families, rule


def test_guide_describes_each_alert_about_fleets():
    guide = (DEPLOY.parent / "docs" / "guides" / "fleet.md").read_text()
    [fleet] = [group for group in RULES["groups"] if group["name"] == "leader-fleet"]
    documented = re.findall(r"^\| `(LeaderFleet\w+)` \|", guide, re.MULTILINE)
    assert sorted(documented) == sorted(rule["alert"] for rule in fleet["rules"])
