"""Tools that tests serve, and a client that counts what they do."""

import asyncio
import sys
from pathlib import Path

import pytest
import structlog

from nexus_tools.tool_server import Call, Variant, tool

EXAMPLES = Path(__file__).parents[2] / "examples" / "tools.py"


class Sum(Variant, name="ok"):
    result: int


class Overflow(Variant, name="err_overflow"):
    reason: str


@pytest.fixture
def add():
    @tool("xyz.example.math.add@1")
    async def add(a: int, b: int) -> Sum | Overflow:
        """Adds two integers."""
        if a + b > 1_000:
            return Overflow(reason="more than a thousand")
        return Sum(result=a + b)

    return add


class Gate:
    """A tool that waits until it is opened, and counts how often it ran."""

    def __init__(self):
        self.runs = 0
        self.calls = []
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()

        @tool("xyz.example.test.gate@1", timeout_ms=1_000)
        async def gate(call: Call, number: int = 0) -> Sum:
            self.runs += 1
            self.calls.append(call)
            self.entered.set()
            await self.opened.wait()
            if number < 0:
                raise RuntimeError("secret detail")
            return Sum(result=number)

        self.tool = gate


@pytest.fixture
async def gate():
    return Gate()


@pytest.fixture
def examples_path():
    return EXAMPLES


@pytest.fixture
def imports(monkeypatch):
    """Remove the modules that a test imports after the test."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def log_entries():
    with structlog.testing.capture_logs() as entries:
        yield entries
