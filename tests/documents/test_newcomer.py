"""`scripts/newcomer`: the wheel, and environments for it."""

import sys

from documents.newcomer import run_uv


def test_environments_are_created_by_the_uv_of_the_project(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    run_uv("venv", "--python", sys.executable, str(tmp_path / "environment"))
    assert (tmp_path / "environment" / "pyvenv.cfg").is_file()
