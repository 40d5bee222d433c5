"""Runs one command in a scratch directory, within limits, to the end of all it started."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from nexus_tools.bridges.sandbox.confinement import Confinement
from nexus_tools.bridges.sandbox.limits import Limit, ProcessLimits
from nexus_tools.bridges.sandbox.pipes import Budget, Inlet, Outlet
from nexus_tools.bridges.sandbox.process_result import Finished
from nexus_tools.bridges.sandbox.scratch import Scratch, outlast
from nexus_tools.bridges.sandbox.watch_handle import Watching, watch_command
from nexus_tools.errors import NexusError, NotFoundError, UsageError


async def run(
    command: Sequence[str],
    *,
    scratch: Scratch,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    confinement: Confinement | None = None,
    directory: Path | None = None,
    input: bytes = b"",  # noqa: A002 - what the standard library calls it
    takes_reply: bool = False,
    on_stdout: Callable[[bytes], None] | None = None,
) -> Finished:
    """Run `command` in `directory` (the scratch's `work`) until all that it starts has ended.

    It may touch what `confinement` says, with none given its scratch and the system's libraries.
    It has `environment` and nothing else of ours: standard streams, and with `takes_reply` the
    descriptor `REPLY_DESCRIPTOR` to write a reply to. `input` is what it may read. `on_stdout` is
    called with its output as it comes; what it raises ends the run and is raised here. A program
    without a slash is looked for in the PATH of `environment`, a relative path from `directory`.

    What it starts is killed when it ends, when it passes a limit, and when `run` is cancelled.
    Raises `NotFoundError` with code `program_missing` or `directory_missing`, `UsageError` with
    `program_not_started` for what the system cannot execute, `sandbox_unsupported` on Windows,
    `confinement_unavailable` where the system cannot confine.
    """
    check_platform()
    confined = confinement or Confinement()
    confined.check()
    place = (directory or scratch.work).absolute()
    process = _Run(scratch, limits, on_stdout)
    try:
        process.open(input)
        process.start(command, environment, confined, place, takes_reply=takes_reply)
        await outlast(process.watching.ended, process.watching.stop)
    finally:
        process.close()
    if process.watching.report.failure:
        raise not_started(*process.watching.report.failure, command, place)
    return process.finished()


class _Run:
    """One run with its pipes, from before its start until after its end."""

    def __init__(
        self, scratch: Scratch, limits: ProcessLimits, on_stdout: Callable[[bytes], None] | None
    ) -> None:
        self.watching = Watching(scratch.folder)
        self._scratch = scratch
        self._limits = limits
        self._on_stdout = on_stdout
        self._budget = Budget(limits.output_bytes, self.watching.stop)
        self._kept = {name: bytearray() for name in ("stdout", "stderr", "reply")}
        self._outlets: dict[str, Outlet] = {}
        self._inlet: Inlet | None = None
        self._failure: Exception | None = None
        self._began = time.monotonic()

    def open(self, given: bytes) -> None:
        """Make the pipes."""
        self.watching.open()
        for name in self._kept:
            self._outlets[name] = Outlet(partial(self._take, name))
        if given:
            self._inlet = Inlet(given)

    def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        confinement: Confinement,
        place: Path,
        *,
        takes_reply: bool,
    ) -> None:
        """Start the watch, which starts the command."""
        stdin = self._inlet.theirs if self._inlet else subprocess.DEVNULL
        stdout, stderr, reply = (self._outlets[name].theirs for name in self._kept)
        line = watch_command(
            command,
            scratch=self._scratch,
            limits=self._limits,
            confined=confinement.words(command, environment, self._scratch.folder),
            time_ms=max(self._limits.time_ms, 1),
            directory=place,
            report=self.watching.descriptor,
            reply=reply if takes_reply else -1,
        )
        descriptors = [reply] if takes_reply else []
        try:
            self.watching.start(line, environment, (stdin, stdout, stderr), descriptors)
        except ValueError as error:
            raise not_started(0, "command", command, place) from error
        except OSError as error:
            if error.errno != errno.E2BIG:
                raise
            raise not_started(error.errno, "command", command, place) from error
        for pipe in self._pipes():
            pipe.close_theirs()
        self.watching.stop(after_s=self._limits.time_ms / 1000)

    def close(self) -> None:
        """Take what is still in the pipes, to which nobody writes any more, and close them."""
        for outlet in self._outlets.values():
            while outlet.read():
                pass
        for pipe in self._pipes():
            pipe.close()
        self.watching.close()

    def finished(self) -> Finished:
        """How it ended; raises what `on_stdout` has raised."""
        if self._failure:
            raise self._failure
        limit = self._limit()
        exit_code = self.watching.report.exit_code
        if exit_code is None:
            # It has killed its own watch, which killed it in turn.
            exit_code = -signal.SIGKILL
        return Finished(
            exit_code=None if limit else exit_code,
            stdout=bytes(self._kept["stdout"]),
            stderr=bytes(self._kept["stderr"]),
            reply=bytes(self._kept["reply"]) or None,
            limit=limit,
            elapsed_ms=round((time.monotonic() - self._began) * 1000),
        )

    def _limit(self) -> Limit | None:
        if self.watching.report.limit:
            return self.watching.report.limit
        if self._budget.passed:
            return Limit.OUTPUT
        return Limit.TIME if self.watching.is_late else None

    def _pipes(self) -> list[Inlet | Outlet]:
        return [*self._outlets.values(), *([self._inlet] if self._inlet else [])]

    def _take(self, name: str, data: bytes) -> None:
        kept = self._budget.take(data)
        self._kept[name] += kept
        if name == "stdout" and kept and self._on_stdout and not self._failure:
            try:
                self._on_stdout(kept)
            except Exception as error:  # noqa: BLE001 - it is raised where `run` is awaited
                self._failure = error
                self.watching.stop()


# --- Why a program could not be started, as errors for users


_MISSING = (errno.ENOENT, errno.ENOTDIR)


def check_platform() -> None:
    """Raise `UsageError` with code `sandbox_unsupported` where there are no process groups."""
    if sys.platform == "win32":
        raise UsageError(
            "sandbox_unsupported",
            "borrowed tools cannot be run on Windows: it has no process groups and no fork",
            hint="run this on Linux (WSL too), or on macOS with weaker limits",
        )


def not_started(number: int, stage: str, command: Sequence[str], directory: Path) -> NexusError:
    """The error for what the system said (`number` is errno) at a stage of starting."""
    problem = os.strerror(number) if number else "the system does not take what it is given"
    if stage == "directory":
        return NotFoundError(
            "directory_missing", f"a tool cannot be run in the directory {directory}: {problem}"
        )
    if stage == "confinement":
        return UsageError(
            "confinement_failed",
            f"the kernel does not confine a tool as it promised to: {problem}",
            hint="a folder of --write or --workspace that is gone, or a container that forbids it",
        )
    program = command[0] if command else ""
    if number in _MISSING:
        return NotFoundError(
            "program_missing",
            f"the program {program!r} cannot be run: {problem}",
            hint="install it, or give the operator's PATH the folder that it is in",
        )
    return UsageError("program_not_started", f"the program {program!r} cannot be run: {problem}")
