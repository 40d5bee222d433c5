"""The parent's view of the watch program of one run: command line, report, and end."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from nexus_tools.bridges.sandbox import standalone
from nexus_tools.bridges.sandbox.confinement import Confinement
from nexus_tools.bridges.sandbox.limits import Limit, ProcessLimits
from nexus_tools.bridges.sandbox.pipes import Outlet
from nexus_tools.bridges.sandbox.scratch import ScratchDirectory

_WATCH = "nexus_tools.bridges.sandbox.watch.main"


def watched_command(
    command: Sequence[str],
    *,
    scratch: ScratchDirectory,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    confinement: Confinement,
) -> list[str]:
    """Return the command line that runs a long-lived program under the same watch as `run`.

    The program has the standard streams, `environment`, and working directory of the process that
    runs the command line. The time and the output of the program are not limited, but the other
    limits apply. All processes are killed when the program ends, when the process that started the
    command line ends, or on SIGTERM.
    """
    confinement_arguments = confinement.words(command, environment, scratch.folder)
    return watch_command_line(
        command, scratch=scratch, limits=limits, confined=confinement_arguments
    )


def watch_command_line(
    command: Sequence[str],
    *,
    scratch: ScratchDirectory,
    limits: ProcessLimits,
    confined: Sequence[str],
    time_ms: int = 0,
    directory: Path | None = None,
    report: int = -1,
    reply: int = -1,
) -> list[str]:
    """Return the whole command line. A descriptor of -1 is unused, and a time of 0 is unlimited.

    `confined` holds the arguments from `Confinement.words`.
    """
    order = {
        "directory": directory or "",
        "disk_bytes": limits.disk_bytes,
        "files": limits.files,
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "reply": reply,
        "report": report,
        "scratch": scratch.folder,
        "time_ms": time_ms,
    }
    words = [*(f"{name}={value}" for name, value in order.items()), *confined]
    return [sys.executable, "-I", "-S", standalone.__file__, _WATCH, *words, "--", *command]


# --- The report, line by line


@dataclass(slots=True)
class Report:
    """The report received so far. `watch/main.py` documents the lines of the report.

    `group` is the program's process group. If `is_complete` is false at the end of the report, the
    watch ended before it could report the program's end.
    """

    text: bytearray = field(default_factory=bytearray)

    @property
    def group(self) -> int | None:
        """The process group of the program, or None before its start."""
        started = self._last("started")
        return int(started) if started else None

    @property
    def exit_code(self) -> int | None:
        """The program's exit code, or the negative number of the signal that killed it."""
        ended = self._last("ended")
        return int(ended) if ended else None

    @property
    def limit(self) -> Limit | None:
        """The limit for which the program was stopped."""
        limit = self._last("limit")
        return Limit(limit) if limit else None

    @property
    def failure(self) -> tuple[int, str] | None:
        """The reason why the program did not start: errno, and the step that failed."""
        number, _, stage = self._last("failed").partition(" ")
        return (int(number), stage) if number else None

    @property
    def is_complete(self) -> bool:
        """Whether all processes have ended, so that no process is left to kill."""
        words = {line.partition(" ")[0] for line in self._lines()}
        return bool(words & {"ended", "limit", "stopped", "failed"})

    def _lines(self) -> list[str]:
        return self.text.decode("ascii").splitlines()

    def _last(self, word: str) -> str:
        matches = [line for line in self._lines() if line.startswith(f"{word} ")]
        return matches[-1].partition(" ")[2] if matches else ""


# --- The fallback for a program that has killed its watch


# The time to wait for processes that the kernel cannot kill at once because they wait for a disk.
_PATIENCE_S = 5.0


def kill_remaining_processes(group: int | None, folder: Path) -> None:
    """Kill the process group, and every process whose environment or directory names the folder.

    This function is the fallback if the watch itself was killed. A process that left the group is
    found by the folder in its environment, unless it hides its environment from /proc. The function
    returns only when the processes have ended. A dying process no longer has an environment, but
    keeps its files open for a moment.
    """
    give_up = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up:
        with ExitStack() as opened:
            processes = [opened.enter_context(_opened(pid)) for pid in _remains(folder)]
            if group is not None:
                _kill(-group)
            if not processes:
                return
            for process in processes:
                _end(process, give_up)


def _remains(folder: Path) -> Iterator[int]:
    proc = Path("/proc")
    if proc.is_dir():
        pids = (int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())
        yield from (pid for pid in pids if _belongs(pid, folder))


def _belongs(pid: int, folder: Path) -> bool:
    if pid == os.getpid():
        return False
    try:
        if os.fsencode(folder) in Path(f"/proc/{pid}/environ").read_bytes():
            return True
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder)
    except OSError:
        return False


@contextmanager
def _opened(pid: int) -> Iterator[int | None]:
    """Yield a descriptor of the process (pidfd_open(2)), or None if the process has ended."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield process
    finally:
        os.close(process)


def _end(process: int | None, give_up: float) -> None:
    """Kill the process and wait until its descriptor becomes readable, which marks its end."""
    if process is None:
        return
    with suppress(ProcessLookupError, PermissionError):
        signal.pidfd_send_signal(process, signal.SIGKILL)
        ended = select.poll()
        ended.register(process, select.POLLIN)
        ended.poll(max(0.0, give_up - time.monotonic()) * 1000)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


# --- The running watch


# The time limit for the start, and for killing all processes of the program.
_GRACE_S = 3.0


class WatchHandle:
    """The handle of a running watch. `ended` is done when no process of the run is alive.

    The watch keeps its end of the report pipe open while it runs, so the end of the report marks
    the end of the watch. If the watch was killed, this class kills the remaining processes of the
    run. `is_late` means that the watch was killed because the run did not end in time.
    """

    def __init__(self, folder: Path) -> None:
        self.report = Report()
        self.is_late = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._folder = folder
        self._pipe: Outlet | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Create the pipe for the report."""
        self._pipe = Outlet(self.report.text.extend, self._at_end)

    @property
    def descriptor(self) -> int:
        """The descriptor to which the watch writes its report."""
        return self._pipe.theirs if self._pipe else -1

    def start(
        self,
        line: Sequence[str],
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
        descriptors: Sequence[int],
    ) -> None:
        """Start the command line with three standard streams and further descriptors."""
        assert self._pipe
        stdin, stdout, stderr = streams
        self._process = subprocess.Popen(  # noqa: S603 - the sandbox runs programs on purpose
            line,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(self.descriptor, *descriptors),
            cwd="/",
            start_new_session=True,
        )
        self._pipe.close_theirs()

    def stop(self, after_s: float = 0.0) -> None:
        """End the run now or after `after_s` seconds. Kill the watch if it does not react."""
        if self._alarm:
            self._alarm.cancel()
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(after_s + _GRACE_S, self._abandon)
        if not after_s:
            self._send(signal.SIGTERM)

    def close(self) -> None:
        """Release the resources of a run that has ended or was not started."""
        if self._alarm:
            self._alarm.cancel()
        if self._pipe:
            self._pipe.close()

    def _abandon(self) -> None:
        self.is_late = True
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._process and not self.ended.done():
            self._process.send_signal(number)

    def _at_end(self) -> None:
        assert self._process
        self._process.wait()
        if self.report.is_complete:
            self.ended.set_result(None)
            return
        group = self.report.group
        loop = asyncio.get_running_loop()
        ending = loop.run_in_executor(None, kill_remaining_processes, group, self._folder)
        ending.add_done_callback(lambda _: self.ended.set_result(None))
