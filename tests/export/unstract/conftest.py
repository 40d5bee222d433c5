"""A tool server on its own port, and exported tools that run as programs."""

import asyncio
import json
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from nexus_tools.export import write_unstract_tool
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from nexus_tools.tool_server import Call, ToolServer, Variant, tool


class Sum(Variant, name="ok"):
    result: int


class Overflow(Variant, name="err_overflow"):
    reason: str
    limit: int


@tool("xyz.example.math.add@2")
async def add(a: int, b: int, call: Call) -> Sum | Overflow:
    """Add two integers."""
    if b == -1:
        raise RuntimeError("secret detail")
    if a + b > 1_000:
        return Overflow(reason="more than a thousand", limit=1_000)
    return Sum(result=a + b)


class Served:
    """An ASGI application that is served in a thread while the context is open."""

    def __init__(self, app):
        self._app = app
        self._ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))

    async def _serve(self):
        listener = listening_socket("127.0.0.1", 0)
        self.url = url_of(listener)
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with serve_embedded(self._app, listener):
            self._ready.set()
            await self._ended.wait()

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(20)


@pytest.fixture(scope="session")
def server():
    with Served(ToolServer([add])) as served:
        yield served


@pytest.fixture
def serve():
    """Return a function that serves another application."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(Served(app)).url


@pytest.fixture
def definition(server):
    return add.definition(server.url)


class ExportedTool:
    """An exported folder, whose program runs as on the platform: in `src`, by its name."""

    def __init__(self, folder, definition, **options):
        self.folder = folder
        self.files = write_unstract_tool(definition, folder, **options)

    def __call__(self, command, settings=None, *, environment=None, arguments=()):
        given = [] if settings is None else ["--settings", settings_text(settings)]
        finished = subprocess.run(
            [sys.executable, "main.py", "--command", command, *given, *arguments],
            cwd=self.folder / "src",
            env={"PATH": "/usr/bin:/bin", **(environment or {})},
            capture_output=True,
            timeout=60,
            check=False,
        )
        messages = [json.loads(line) for line in finished.stdout.splitlines()]
        return finished.returncode, messages, finished.stderr.decode()

    def config(self, name):
        return json.loads((self.folder / "src" / "config" / name).read_text(encoding="utf-8"))


def settings_text(settings):
    return settings if isinstance(settings, str) else json.dumps(settings)


@pytest.fixture
def exported_tool(definition, tmp_path):
    return ExportedTool(tmp_path / "exported", definition)


@pytest.fixture
def export(tmp_path):
    """Return a function that exports another definition."""
    return lambda definition, **options: ExportedTool(
        Path(tmp_path, "exported"), definition, **options
    )
