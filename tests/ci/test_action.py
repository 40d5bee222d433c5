"""The GitHub Action: its shell steps, run in a new project as a runner runs them."""

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

from documents import environment_of

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
PAGE = (ROOT / "docs/guides/ci.md").read_text()
CONDITION = re.compile(r"inputs\.([\w-]+) (==|!=) '(\w*)'")
EXPRESSION = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
DEFAULTS = {name: declared["default"] for name, declared in ACTION["inputs"].items()}
EXAMPLES = ROOT / "examples"


class Runner:
    """A runner with a home directory, a folder with the project, and the programs of this test."""

    def __init__(self, folder):
        self.folder = folder / "project"
        self.folder.mkdir()
        self.output = folder / "output"
        self.output.touch()
        self._environment = environment_of(folder, Path(sys.executable).parent) | {
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(self.output),
        }

    def run(self, **inputs):
        """Run the shell steps whose condition holds; return the result of the last step."""
        values = DEFAULTS | {name.replace("_", "-"): value for name, value in inputs.items()}
        values["install"] = "false"
        done = None
        for step in STEPS:
            if _holds(step["if"], values):
                done = self._step(step, values)
                if done.returncode:
                    break
        return done

    def _step(self, step, values):
        assert step["shell"] == "bash"
        variables = {
            name: EXPRESSION.sub(lambda match: values[match[1]], text)
            for name, text in step.get("env", {}).items()
        }
        return self.bash(step["run"], **variables)

    def bash(self, script, **variables):
        """Run a script as a runner does: https://docs.github.com, `shell: bash`."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self._environment | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def _holds(condition, values):
    name, operator, text = CONDITION.fullmatch(condition).groups()
    return (values[name] == text) == (operator == "==")


@pytest.fixture
def runner(tmp_path):
    runner = Runner(tmp_path)
    yield runner
    runner.bash("nexus-tools localnet stop --quiet")


@pytest.mark.long
def test_action_validates_tools_and_workflows(runner):
    runner.bash("nexus-tools workflow new report")
    shutil.copy(EXAMPLES / "on_chain" / "badge.json", runner.folder)
    shutil.copy(EXAMPLES / "workflows" / "count.json", runner.folder)
    done = runner.run(
        tools="badge.json\n\nreport/tools.py\n",
        workflows="report\ncount.json",
        workflow_tools="report/tools.py",
        strict="true",
    )
    assert done.returncode == 0, done.stderr
    assert "report is valid" in done.stderr
    assert "count.json is valid" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text", "code"),
    [("tools", '{"fqn": "add"}', 7), ("workflows", '{"vertices": []}', 7), ("tools", "{", 7)],
)
def test_action_fails_for_an_invalid_file(runner, name, text, code):
    (runner.folder / "invalid.json").write_text(text)
    done = runner.run(**{name: "invalid.json"})
    assert done.returncode == code
    assert "error: " in done.stderr


@pytest.mark.long
def test_strict_rejects_warnings(runner):
    document = json.loads((EXAMPLES / "workflows" / "count.json").read_text())
    (runner.folder / "flow.json").write_text(json.dumps(document | {"colour": "red"}))
    assert runner.run(workflows="flow.json").returncode == 0
    assert runner.run(workflows="flow.json", strict="true").returncode == 7


@pytest.mark.long
def test_action_starts_a_localnet_and_returns_its_url(runner):
    done = runner.run(localnet="true")
    assert done.returncode == 0, done.stderr
    name, _, url = runner.output.read_text().strip().partition("=")
    assert name == "url"
    request = urllib.request.Request(f"{url}/snapshot", method="POST")
    with urllib.request.urlopen(request) as response:
        assert response.status == 200


@pytest.mark.long
def test_action_tests_move_packages(runner, tmp_path, lend_compiler):
    lend_compiler(tmp_path / ".cache")
    shutil.copytree(EXAMPLES / "testing" / "move" / "counter", runner.folder / "counter")
    assert runner.run(move_packages="counter").returncode == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("tools", text) for text in ("$(touch run)", "`touch run`", "'; touch run; '", "--help")),
        *((name, "$(touch run)") for name in ("workflows", "workflow_tools", "move_packages")),
    ],
)
def test_input_is_neither_executed_nor_an_option(runner, name, text):
    (runner.folder / "flow.json").write_bytes((EXAMPLES / "workflows/count.json").read_bytes())
    done = runner.run(**{"workflows": "flow.json"} | {name: text})
    assert done.returncode != 0
    assert list(runner.folder.iterdir()) == [runner.folder / "flow.json"]


def test_shell_steps_contain_no_expression():
    """An expression in a script would be replaced by text that bash executes."""
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", [*ACTION["inputs"], *ACTION["outputs"]])
def test_page_explains_inputs_and_outputs(name):
    assert f"| `{name}` |" in PAGE
