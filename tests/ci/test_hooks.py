"""The hooks for pre-commit: their entries, with the files that their patterns select."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from documents import environment_of

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
BADGE = (ROOT / "examples/on_chain/badge.json").read_text()
COUNT = (ROOT / "examples/workflows/count.json").read_text()


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a hook on files, as pre-commit does."""
    folder = tmp_path / "repository"
    folder.mkdir()
    environment = environment_of(tmp_path, Path(sys.executable).parent)

    def run(name, files):
        for path, text in files.items():
            (folder / path).write_text(text)
        selected = [path for path in files if re.search(HOOKS[name]["files"], path)]
        return selected, subprocess.run(
            [*shlex.split(HOOKS[name]["entry"]), *selected],
            cwd=folder,
            env=environment | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "files", "selected"),
    [
        (
            "nexus-tool-validate",
            {"a.tool.json": BADGE, "tool.json": "{"},
            ["a.tool.json"],
        ),
        (
            "nexus-workflow-validate",
            {"workflow.json": COUNT, "b.workflow.json": COUNT, "myworkflow.json": "{"},
            ["workflow.json", "b.workflow.json"],
        ),
    ],
)
def test_hook_accepts_valid_files(run, name, files, selected):
    chosen, done = run(name, files)
    assert chosen == selected
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("nexus-tool-validate", {"a.tool.json": '{"fqn": "add"}', "b.tool.json": BADGE}),
        ("nexus-workflow-validate", {"a.workflow.json": "{}", "workflow.json": COUNT}),
    ],
)
def test_hook_checks_all_files_and_fails_for_an_invalid_file(run, name, files):
    _, done = run(name, files)
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "✓" in done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("file", ["--help.tool.json", "$(touch run).tool.json"])
def test_name_of_a_file_is_neither_an_option_nor_executed(run, tmp_path, file):
    _, done = run("nexus-tool-validate", {file: "{"})
    assert done.returncode == 1
    assert [path.name for path in (tmp_path / "repository").iterdir()] == [file]


def test_hooks_run_in_the_environment_of_this_package():
    assert {hook["language"] for hook in HOOKS.values()} == {"python"}
