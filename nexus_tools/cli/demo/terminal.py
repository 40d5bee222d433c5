"""A terminal that shows `nexus-tools` commands and runs them in a temporary folder."""

import asyncio
import os
import shlex
import signal
import site
import threading
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from nexus_tools.cli.framework import Output, child_command, plain
from nexus_tools.errors import NexusError
from nexus_tools.settings.environment import BIND_ADDR

_INDENT = "    "
_READY_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 20.0
_MAX_LINE_BYTES = 2**20
_LAST_LINES = 20
_ENDS_THE_DEMO = (signal.SIGTERM, signal.SIGHUP)
_FOREIGN_PREFIXES = ("NEXUS_", "XDG_", "SUI_CONFIG_DIR", BIND_ADDR)


@dataclass(slots=True)
class _Server:
    """A command that runs in the background, with the last lines that it printed."""

    command: str
    process: Process
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))
    reading: asyncio.Task[None] | None = None


class Terminal:
    """A terminal of a new user, whose home directory and working directory is `folder`.

    With `--json`, the terminal prints nothing and records the commands in `steps`. With `--quiet`,
    it prints only the titles of the steps.
    """

    def __init__(self, folder: Path, output: Output) -> None:
        self.steps: list[dict[str, Any]] = []
        self._output = output
        self._folder = folder
        self._environment = _environment(folder)
        self._servers: list[_Server] = []

    def title(self, text: str) -> None:
        """Begin a step."""
        self.steps.append({"title": text, "commands": []})
        if not self._output.as_json:
            click.secho(f"\n{len(self.steps):2}  {text}", bold=True)

    def note(self, text: str) -> None:
        """Print a line below the output of a command."""
        if not (self._output.as_json or self._output.quiet):
            click.echo(f"{_INDENT}{plain(text)}")

    async def run(self, *words: str, exit_code: int = 0) -> str:
        """Run a command and return its output. Raises `demo_failed` if it exits with another code.

        The output is everything that the command writes to stdout and stderr.
        """
        shown = self._show(words)
        process = await self._spawn(words)
        try:
            lines = [line async for line in self._lines(process)]
            code = await process.wait()
        finally:
            await _end(process)
        text = "\n".join(lines)
        self._record(shown, text, code)
        if code != exit_code:
            raise self._failed(f"`{shown}` exited with code {code} instead of {exit_code}")
        return text

    async def start(self, *words: str, until: str) -> str:
        """Run a server in the background, and return its first line that contains `until`.

        Raises `demo_failed` if the server exits earlier, or does not print the line in 60 s.
        """
        shown = self._show(words, note="  # in another terminal")
        server = _Server(shown, await self._spawn(words))
        self._servers.append(server)
        try:
            async with asyncio.timeout(_READY_TIMEOUT_S):
                matching = (line async for line in self._lines(server.process) if until in line)
                line = await anext(matching, None)
        except TimeoutError:
            raise self._failed(f"`{shown}` is not ready after {_READY_TIMEOUT_S:g} s") from None
        if line is None:
            raise self._failed(f"`{shown}` ended early")
        server.reading = asyncio.create_task(_read(server))
        self._record(shown, line, None)
        return line

    async def close(self) -> None:
        """End the servers, the newest first."""
        with _uninterrupted():
            for server in reversed(self._servers):
                await _end(server.process)
                if server.reading is not None:
                    await server.reading

    # --- Commands

    def _show(self, words: tuple[str, ...], note: str = "") -> str:
        command = shlex.join(("nexus-tools", *words))
        if not (self._output.as_json or self._output.quiet):
            click.secho(f"{_INDENT}$ {command}{note}", dim=True)
        return command

    async def _spawn(self, words: tuple[str, ...]) -> Process:
        """Start a command in a new session, so that Ctrl-C reaches only the demo itself."""
        return await asyncio.create_subprocess_exec(
            *child_command(*words),
            cwd=self._folder,
            env=self._environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            limit=_MAX_LINE_BYTES,
            start_new_session=True,
        )

    async def _lines(self, process: Process) -> AsyncIterator[str]:
        """Yield the lines of a command, and print them."""
        assert process.stdout is not None
        async for data in process.stdout:
            line = data.decode(errors="replace").rstrip()
            if not (self._output.as_json or self._output.quiet):
                click.echo(f"{_INDENT}{line}")
            yield line

    def _record(self, command: str, output: str, exit_code: int | None) -> None:
        entry = {"command": command, "output": output, "exit_code": exit_code}
        self.steps[-1]["commands"].append(entry)

    def _failed(self, message: str) -> NexusError:
        """Return the error of a command. Without `--json`, print the last lines of the servers."""
        for server in self._servers:
            if server.last_lines and not self._output.as_json:
                click.echo(f"\nthe last lines of `{server.command}`:", err=True)
                click.echo("\n".join(f"{_INDENT}{line}" for line in server.last_lines), err=True)
        return NexusError(
            "demo_failed",
            message,
            hint="Read the output of the command. `nexus-tools doctor` checks this machine.",
            details={"steps": self.steps} if self._output.as_json else None,
        )


@asynccontextmanager
async def open_terminal(output: Output) -> AsyncIterator[Terminal]:
    """Open a terminal in a temporary folder. At the end, stop its servers and delete the folder.

    SIGTERM and SIGHUP end the demo like Ctrl-C.
    """
    with _like_interrupts(), TemporaryDirectory(prefix="nexus-tools-demo-") as name:
        terminal = Terminal(Path(name), output)
        try:
            yield terminal
        finally:
            await terminal.close()


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of a user whose home directory is `folder`.

    Packages of `pip install --user` are below the real home directory, which Python finds by
    PYTHONUSERBASE.
    """
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN_PREFIXES)
    }
    return kept | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "XDG_DATA_HOME": str(folder / ".local" / "share"),
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTHONUNBUFFERED": "1",
    }


async def _read(server: _Server) -> None:
    """Keep the last lines of a server, so that it never waits for a reader."""
    assert server.process.stdout is not None
    async for data in server.process.stdout:
        server.last_lines.append(data.decode(errors="replace").rstrip())


async def _end(process: Process) -> None:
    """End a process with SIGTERM, or with SIGKILL if it does not end in time."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_END_TIMEOUT_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@contextmanager
def _like_interrupts() -> Iterator[None]:
    """Handle signals that end a program like Ctrl-C, which cancels the task of the demo."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    for number in _ENDS_THE_DEMO:
        loop.add_signal_handler(number, signal.raise_signal, signal.SIGINT)
    try:
        yield
    finally:
        for number in _ENDS_THE_DEMO:
            loop.remove_signal_handler(number)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while the servers end, which takes a few seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
