import os
from pathlib import Path

import pytest

from nexus_tools.bridges.unstract.program import find_program
from nexus_tools.errors import NotFoundError

PYTHON = Path("/venv/bin/python")


def command_of(folder, *, entrypoint=(), place=None):
    program = find_program(folder, place or folder, entrypoint, os.defpath)
    return program.command(folder, PYTHON)


def write(path, text="#!/bin/sh\n", mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return path


def test_main_py_runs_with_the_python_of_the_host(tmp_path):
    write(tmp_path / "main.py", mode=0o644)
    write(tmp_path / "main")
    assert command_of(tmp_path) == [str(PYTHON), "main.py"]


@pytest.mark.parametrize("name", ["main", "main.sh", "main.bin"])
def test_executable_main_runs_itself(tmp_path, name):
    write(tmp_path / name)
    assert command_of(tmp_path) == [str(tmp_path / name)]


def test_non_executable_main_is_not_a_program(tmp_path):
    write(tmp_path / "main.sh", mode=0o644)
    with pytest.raises(NotFoundError, match="no program"):
        command_of(tmp_path)


def test_several_mains_are_refused_unless_one_is_exactly_main(tmp_path):
    write(tmp_path / "main.sh")
    write(tmp_path / "main.rb")
    with pytest.raises(NotFoundError, match="several programs"):
        command_of(tmp_path)
    write(tmp_path / "main")
    assert command_of(tmp_path) == [str(tmp_path / "main")]


def test_entrypoint_of_the_dockerfile_is_run(tmp_path):
    source = tmp_path / "src"
    source.mkdir()
    docker = 'FROM x\nENTRYPOINT ["old"]\nentrypoint \\\n  ["python3", "-u", "start.py"]\n'
    write(tmp_path / "Dockerfile", docker)
    assert command_of(source, place=tmp_path) == [str(PYTHON), "-u", "start.py"]


@pytest.mark.parametrize(
    "line", ["ENTRYPOINT python run.py", "ENTRYPOINT [python]", "ENTRYPOINT []"]
)
def test_shell_form_entrypoint_is_not_a_program(tmp_path, line):
    write(tmp_path / "Dockerfile", f"FROM x\n{line}\n")
    with pytest.raises(NotFoundError, match="no program"):
        command_of(tmp_path)


def test_given_entrypoint_takes_precedence(tmp_path):
    write(tmp_path / "main.py")
    run = write(tmp_path / "run.sh")
    assert command_of(tmp_path, entrypoint=["./run.sh", "-v"]) == [str(run), "-v"]
    assert command_of(tmp_path, entrypoint=["sh", "run.sh"]) == ["sh", "run.sh"]


@pytest.mark.parametrize("entrypoint", [["no-such-program"], ["./missing.sh"]])
def test_missing_program_is_refused_with_a_hint(tmp_path, entrypoint):
    with pytest.raises(NotFoundError) as caught:
        command_of(tmp_path, entrypoint=entrypoint)
    assert caught.value.code == "program_not_found"
    assert "--entrypoint" in caught.value.hint
