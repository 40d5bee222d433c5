"""Processes of a benchmark. A benchmark waits until a process is ready, and always ends it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from select import select
from time import monotonic, sleep
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"

_READY_S = 60.0
_END_S = 10.0
_LOOK_AGAIN_S = 0.02


class ProcessFailed(Exception):  # noqa: N818 - the name states the event
    """The error for a process that ended early or printed nothing in time."""


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package."""
    return [sys.executable, "-m", f"benchmarks.{module}", *arguments]


def nexus_tools(*arguments: str) -> list[str]:
    """Return a command of `nexus-tools`."""
    return [str(Path(sys.executable).parent / "nexus-tools"), *arguments]


def home(folder: Path) -> dict[str, str]:
    """Return the environment in which the command line stores everything below `folder`."""
    kinds = ("CONFIG", "DATA", "CACHE")
    return {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in kinds}


def run(command: Sequence[str], environment: dict[str, str]) -> Any:
    """Run a command until it ends. Return the JSON document that the command prints."""
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=_environment(environment)
    )
    if done.returncode:
        raise ProcessFailed(f"{' '.join(command[1:4])}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


@contextmanager
def started(
    command: Sequence[str], log: Path, environment: dict[str, str] | None = None
) -> Iterator["Process"]:
    """Run a process until the block ends. The process's stderr goes to `log`."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env=_environment(environment),
        )
    try:
        yield Process(process, log)
    finally:
        _end(process)


def _environment(changes: dict[str, str] | None) -> dict[str, str]:
    """Return this process's environment with changes and without a developer's own settings.

    One of these settings prevents Python from caching compiled modules. For users, pip compiles the
    modules.
    """
    settings = ("NEXUS_TOOL", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    return {**kept, "PYTHONPATH": str(SCRIPTS), **(changes or {})}


def cpu_s(pid: int, *, ended_children: bool = False) -> float:
    """Return the CPU seconds of all threads of a process, and optionally of its ended children."""
    # The name of the process may contain spaces. After the name, the 12th to the 15th field are the
    # user time and the system time of the process, and those of its ended children.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    last = 15 if ended_children else 13
    return sum(map(int, fields[11:last])) / os.sysconf("SC_CLK_TCK")


class Process:
    """A running process that prints line by line."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self._process = process
        self._output: IO[bytes] = process.stdout
        self._input: IO[bytes] = process.stdin
        self._log = log

    @property
    def pid(self) -> int:
        """The ID of the process."""
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    @property
    def cpu_s(self) -> float:
        """The CPU seconds of all threads of the process."""
        return cpu_s(self.pid)

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def wait(self, timeout_s: float) -> int:
        """Wait until the process ends, and return its exit code. Raises `ProcessFailed`."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise ProcessFailed(f"{self._name()} did not end within {timeout_s:.0f} s") from None

    def line(self, timeout_s: float = _READY_S) -> str:
        """Return the next line of the process's output. Raises `ProcessFailed`."""
        deadline = monotonic() + timeout_s
        line = b""
        while not line.endswith(b"\n"):
            readable, _, _ = select([self._output], [], [], max(0.0, deadline - monotonic()))
            # Read one byte at a time, because `select` does not see buffered bytes.
            byte = os.read(self._output.fileno(), 1) if readable else b""
            if not byte:
                raise ProcessFailed(f"{self._name()} {self._what_happened(readable)}")
            line += byte
        return line.decode().rstrip("\n")

    def logged(self, text: str, timeout_s: float = _READY_S) -> str:
        """Wait for the first line of stderr that contains a text. Raises `ProcessFailed`."""
        deadline = monotonic() + timeout_s
        while monotonic() < deadline and self._process.poll() is None:
            for line in self._log.read_text(errors="replace").splitlines():
                if text in line:
                    return line
            sleep(_LOOK_AGAIN_S)
        raise ProcessFailed(f"{self._name()} {self._what_happened(self._process.poll())}")

    def document(self) -> Any:
        """Read a JSON document of several lines."""
        lines = [self.line()]
        while lines[-1] != "}":
            lines.append(self.line())
        return json.loads("\n".join(lines))

    def ask(self, request: Any, timeout_s: float = _READY_S) -> Any:
        """Send a line of JSON, and return the response."""
        self._input.write(json.dumps(request).encode() + b"\n")
        self._input.flush()
        return json.loads(self.line(timeout_s))

    def _name(self) -> str:
        assert isinstance(self._process.args, list)
        return " ".join(self._process.args[1:4])

    def _what_happened(self, ended: object) -> str:
        last = self._log.read_text(errors="replace").splitlines()[-5:]
        happened = "printed nothing in time" if ended in (None, []) else "ended"
        return "\n".join([happened, *last])


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
