"""Programs that run in a sandbox, and their remaining processes."""

import os
import sys
from pathlib import Path

import pytest

from nexus_tools.bridges.sandbox import ProcessLimits, ScratchDirectory, run


@pytest.fixture
def scratch(tmp_path):
    with ScratchDirectory(tmp_path / "scratch") as scratch:
        yield scratch


@pytest.fixture
def run_python(scratch):
    """Return a function that runs Python code in the sandbox, with limits by name."""

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
def remaining_processes():
    """Return a function that lists the living processes of a scratch directory."""

    def belongs(process, folder):
        try:
            return os.fsencode(folder) in (process / "environ").read_bytes()
        except OSError:
            return False

    def remaining_processes(scratch):
        processes = [each for each in Path("/proc").iterdir() if each.name.isdigit()]
        return [each.name for each in processes if belongs(each, scratch.folder)]

    return remaining_processes


@pytest.fixture
def is_alive():
    """Return a function that tells whether a process exists and is not a zombie."""

    def is_alive(pid):
        try:
            status = Path(f"/proc/{int(pid)}/stat").read_text()
        except OSError:
            return False
        return status.rpartition(")")[2].split()[0] != "Z"

    return is_alive
