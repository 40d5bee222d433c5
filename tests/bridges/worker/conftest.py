"""A foreign interpreter, which has modules of the tests and no module of this package."""

import sys
from pathlib import Path

import pytest

from nexus_tools.bridges import BridgeHost
from nexus_tools.bridges.sandbox import ProcessLimits, ScratchDirectory, environment_of
from nexus_tools.bridges.worker import ask


@pytest.fixture
def scratch(tmp_path):
    with ScratchDirectory(tmp_path / "scratch") as scratch:
        yield scratch


@pytest.fixture
def interpreter(tmp_path):
    """Return a virtual environment: the folder of its modules, and its program."""
    folder = tmp_path / "stranger"
    modules = folder / f"lib/python3.{sys.version_info.minor}/site-packages"
    modules.mkdir(parents=True)
    python = folder / "bin/python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    return modules, python


@pytest.fixture
def call_module(interpreter, scratch, tmp_path):
    """Return a function that calls a module with the given code."""

    async def call_module(code, request=None, **limits):
        modules, python = interpreter
        (modules / "asked.py").write_text(code)
        host = BridgeHost(python, tmp_path, tmp_path, environment={})
        return await ask(
            host,
            "asked",
            request or {},
            scratch=scratch,
            limits=ProcessLimits(**{"time_ms": 30_000, **limits}),
            environment=environment_of(host, scratch=scratch),
            confinement=host.confined(),
        )

    return call_module
