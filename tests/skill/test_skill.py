"""The agent skill: its format, and its evaluations with agents that do the tasks or do not."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from documents.page import ROOT
from nexus_tools.tool_server import load
from skill_evaluation import Evaluation, Stage, evaluate, evaluations
from skill_evaluation.checks import CHECKS

SKILL = ROOT / "skills/nexus-tools"
REFERENCE = f"{sys.executable} -m skill_evaluation.reference_agent"
EVALUATIONS = evaluations()


# --- The format of agentskills.io/specification


@pytest.fixture(scope="module")
def front_matter():
    _, text, body = (SKILL / "SKILL.md").read_text().split("---\n", 2)
    return yaml.safe_load(text), body


def test_front_matter_follows_the_specification(front_matter):
    fields, _ = front_matter
    assert fields.keys() <= {
        *("name", "description", "license", "compatibility", "metadata", "allowed-tools")
    }
    assert fields["name"] == SKILL.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert len(fields["name"]) <= 64
    assert 1 <= len(fields["description"]) <= 1024
    assert "Use when" in fields["description"]
    assert 1 <= len(fields["compatibility"]) <= 500


def test_instructions_are_short_and_link_every_reference_once(front_matter):
    _, body = front_matter
    assert body.count("\n") < 500
    assert len(body) < 4 * 5_000  # 5 000 tokens of about four characters
    linked = {SKILL / name for name in re.findall(r"\]\((references/[\w-]+\.md)\)", body)}
    assert linked == {*(SKILL / "references").iterdir()}


def test_skill_states_the_spending_limit_in_each_call():
    text = "".join(page.read_text() for page in SKILL.rglob("*.md"))
    calls = re.findall(r"^\$ .*tool invoke .*", text, re.MULTILINE)
    assert len(calls) >= 5
    assert [call for call in calls if "--max-cost" not in call] == []


# --- The files of the evaluations


@pytest.mark.parametrize("evaluation", EVALUATIONS, ids=lambda one: one.name)
def test_evaluation_has_a_task_and_known_checks(evaluation):
    document = json.loads((SKILL / f"evaluations/{evaluation.name}.json").read_text())
    assert document.keys() == {"task", "setup", "checks", "reference"}
    assert {check["check"] for check in evaluation.checks} <= CHECKS.keys()
    assert evaluation.checks
    assert any(check["check"] not in ("text_file", "json_file") for check in evaluation.checks)


def test_tools_of_the_tasks_are_examples():
    tools = load(str(ROOT / "examples/tools.py")).tools
    named = {
        fqn
        for evaluation in EVALUATIONS
        for fqn in re.findall(r"registered tool (xyz\.[\w.]+@1)", evaluation.task)
    }
    assert named
    assert {f"/{fqn}" for fqn in named} <= tools.keys()


# --- The runner


def run_agent(tmp_path, agent, *, checks=(), timeout_s=20):
    """Evaluate an agent whose task needs no network."""
    evaluation = Evaluation("task", "Do it.", (), tuple(checks), ())
    return evaluate(evaluation, Stage(tmp_path, ()), agent, timeout_s=timeout_s)


def test_agent_runs_in_its_folder_with_the_task_as_last_argument(tmp_path):
    program = tmp_path / "agent.py"
    program.write_text(
        "import pathlib, sys\n"
        "pathlib.Path('prompt').write_text(sys.argv[-1])\n"
        "pathlib.Path('files').write_text('\\n'.join(map(str, pathlib.Path().rglob('*.*'))))\n"
    )
    run_agent(tmp_path, f"{sys.executable} {program}")
    [workspace] = [path for path in tmp_path.glob("workspace*") if path.is_dir()]
    assert (workspace / "prompt").read_text().startswith("Do it.\n")
    files = (workspace / "files").read_text().split()
    assert "skills/nexus-tools/SKILL.md" in files
    assert ".claude/skills/nexus-tools/SKILL.md" in files
    assert [name for name in files if "evaluations" in name] == []


def test_agent_cannot_use_the_keys_and_networks_of_the_user(tmp_path, monkeypatch):
    user = tmp_path / "user"
    (user / "nexus-tools").mkdir(parents=True)
    (user / "nexus-tools/config.toml").write_text('network = "mainnet"\nwallet = "rich"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user))
    monkeypatch.setenv("XDG_DATA_HOME", str(user))
    environment = Stage(tmp_path, ()).agent_environment() | {
        "NEXUS_TOOLS_NETWORK": "mainnet",
        "NEXUS_TOOLS_CONFIG": str(user / "nexus-tools/config.toml"),
    }
    command = ("nexus-tools", "config", "show", "--json")
    shown = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert "mainnet" not in shown.stdout
    assert "rich" not in shown.stdout


def test_servers_of_the_agent_end_after_the_checks(tmp_path):
    """The server inherits the pipe, which ends when all its writers have ended."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    run_agent(tmp_path, f"bash -c 'exec 3>{pipe}; echo started >&3; sleep 1000 &'")
    os.set_blocking(reader, True)
    with os.fdopen(reader) as output:
        assert output.read() == "started\n"


def test_agent_that_does_not_end_fails(tmp_path):
    result = run_agent(tmp_path, "bash -c 'sleep 1000'", timeout_s=0.1)
    assert result.failures == ("the agent did not end within 0.1 s",)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (None, "answer.txt does not exist"),
        (b"no", "answer.txt contains 'no'"),
        (b"yes\n", None),
        (b"\xff", "answer.txt does not exist"),
    ],
)
def test_text_file_is_compared(tmp_path, text, failure):
    if text is not None:
        (tmp_path / "answer.txt").write_bytes(text)
    assert CHECKS["text_file"](None, tmp_path, path="answer.txt", text="yes") == failure


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"b": 2}}'])
def test_json_file_with_another_value_fails(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    assert CHECKS["json_file"](None, tmp_path, path="x.json", pointer="/a/b", value=1)


# --- The evaluations


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("evaluation", EVALUATIONS, ids=lambda one: one.name)
def test_reference_agent_does_the_task(evaluation, tmp_path, monkeypatch, warm_programs):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(ROOT / "scripts"))))
    with Stage(tmp_path, evaluation.setup, warm_programs) as stage:
        result = evaluate(evaluation, stage, REFERENCE, timeout_s=120)
    assert result.failures == (), result.log


CALL_ANYWAY = (
    "bash -c 'nexus-tools tool invoke xyz.example.text.count_words@1 --input text=one"
    " --max-cost 0.1 --yes -q && echo expensive >answer.txt'"
)
INVENTED = json.dumps({"variant": "ok", "ports": {"quotient": 13}})
INVENT = f"bash -c {shlex.quote(f'echo {shlex.quote(INVENTED)} >outcome.json')}"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_agents_that_do_not_do_the_task_fail(tmp_path, warm_programs):
    """One network suffices, because these agents change nothing that the checks accept."""
    named = {evaluation.name: evaluation for evaluation in EVALUATIONS}
    with Stage(tmp_path, ("localnet", "tools", "leader"), warm_programs) as stage:
        lazy = {
            name: evaluate(evaluation, stage, "true", timeout_s=60).failures
            for name, evaluation in named.items()
        }
        invented = evaluate(named["find-and-call"], stage, INVENT, timeout_s=60)
        called = evaluate(named["price-limit"], stage, CALL_ANYWAY, timeout_s=60)
    assert [name for name, failures in lazy.items() if not failures] == []
    assert invented.failures == ("the outcomes of xyz.example.math.divide@1 on chain are []",)
    assert [failure.split(" on chain")[0] for failure in called.failures] == [
        "the outcomes of xyz.example.text.count_words@1"
    ]
