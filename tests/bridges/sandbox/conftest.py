"""Programs that run in a sandbox, and what is left of them."""

import os
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges.sandbox import ProcessLimits, Scratch, run


@pytest.fixture
def scratch(tmp_path):
    with Scratch(tmp_path / "scratch") as scratch:
        yield scratch


@pytest.fixture
def run_python(scratch):
    """Runs Python code in the sandbox, with limits by name."""

    async def run_python(code, *arguments, environment=None, limits=None, **options):
        command = [sys.executable, "-I", "-S", "-c", code, *arguments]
        return await run(
            command,
            scratch=scratch,
            environment={"HOME": str(scratch.home), **(environment or {})},
            limits=ProcessLimits(**{"time_ms": 30_000, **(limits or {})}),
            **options,
        )

    return run_python


@pytest.fixture
def left_of():
    """The processes that have to do with a scratch directory and are alive."""

    def belongs(process, folder):
        try:
            return os.fsencode(folder) in (process / "environ").read_bytes()
        except OSError:
            return False

    def left_of(scratch):
        processes = [each for each in Path("/proc").iterdir() if each.name.isdigit()]
        return [each.name for each in processes if belongs(each, scratch.folder)]

    return left_of


@pytest.fixture
def is_alive():
    """Whether a process is there and no mere zombie."""

    def is_alive(pid):
        try:
            status = Path(f"/proc/{int(pid)}/stat").read_text()
        except OSError:
            return False
        return status.rpartition(")")[2].split()[0] != "Z"

    return is_alive
