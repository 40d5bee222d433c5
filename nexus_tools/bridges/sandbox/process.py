"""The execution of one command in a scratch directory, within limits, until its processes end."""

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
from nexus_tools.bridges.sandbox.pipes import Budget, InputPipe, Outlet
from nexus_tools.bridges.sandbox.process_result import ProcessResult
from nexus_tools.bridges.sandbox.scratch import ScratchDirectory, finish_before_cancelling
from nexus_tools.bridges.sandbox.watch_handle import WatchHandle, watch_command_line
from nexus_tools.errors import NexusError, NotFoundError, UsageError


async def run(
    command: Sequence[str],
    *,
    scratch: ScratchDirectory,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    confinement: Confinement | None = None,
    directory: Path | None = None,
    input: bytes = b"",  # noqa: A002 - what the standard library calls it
    takes_reply: bool = False,
    on_stdout: Callable[[bytes], None] | None = None,
) -> ProcessResult:
    """Run `command` in `directory` (default: the scratch's `work`) until all processes have ended.

    The command may use the resources of `confinement`, by default only its scratch directory and
    the system's libraries. The command receives `environment`, the standard streams, and, with
    `takes_reply`, the descriptor `REPLY_DESCRIPTOR` for a reply. `input` is the standard input of
    the command. `on_stdout` is called with output as it arrives. If `on_stdout` raises an
    exception, the run ends and `run` raises the exception. A program name without a slash is looked
    up in the PATH of `environment`. A relative path is relative to `directory`.

    All processes are killed when the command ends, exceeds a limit, or when `run` is cancelled.

    Raises:
        NotFoundError: with code `program_not_found` or `directory_not_found`.
        UsageError: with code `program_not_started` if the system cannot execute the program,
            `sandbox_unsupported` on Windows, or `confinement_unavailable` if the system cannot
            confine.
    """
    check_platform()
    effective_confinement = confinement or Confinement()
    effective_confinement.check()
    place = (directory or scratch.work).absolute()
    process = _Run(scratch, limits, on_stdout)
    try:
        process.open(input)
        process.start(command, environment, effective_confinement, place, takes_reply=takes_reply)
        await finish_before_cancelling(process.watching.ended, process.watching.stop)
    finally:
        process.close()
    if process.watching.report.failure:
        raise start_error(*process.watching.report.failure, command, place)
    return process.finished()


class _Run:
    """One run with its pipes, from before its start until after its end."""

    def __init__(
        self,
        scratch: ScratchDirectory,
        limits: ProcessLimits,
        on_stdout: Callable[[bytes], None] | None,
    ) -> None:
        self.watching = WatchHandle(scratch.folder)
        self._scratch = scratch
        self._limits = limits
        self._on_stdout = on_stdout
        self._budget = Budget(limits.output_bytes, self.watching.stop)
        self._output = {name: bytearray() for name in ("stdout", "stderr", "reply")}
        self._outlets: dict[str, Outlet] = {}
        self._inlet: InputPipe | None = None
        self._failure: Exception | None = None
        self._started_at = time.monotonic()

    def open(self, input_bytes: bytes) -> None:
        """Create the pipes."""
        self.watching.open()
        for name in self._output:
            self._outlets[name] = Outlet(partial(self._store_output, name))
        if input_bytes:
            self._inlet = InputPipe(input_bytes)

    def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        confinement: Confinement,
        place: Path,
        *,
        takes_reply: bool,
    ) -> None:
        """Start the watch program, which starts the command."""
        stdin = self._inlet.theirs if self._inlet else subprocess.DEVNULL
        stdout, stderr, reply = (self._outlets[name].theirs for name in self._output)
        line = watch_command_line(
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
            raise start_error(0, "command", command, place) from error
        except OSError as error:
            if error.errno != errno.E2BIG:
                raise
            raise start_error(error.errno, "command", command, place) from error
        for pipe in self._pipes():
            pipe.close_theirs()
        self.watching.stop(after_s=self._limits.time_ms / 1000)

    def close(self) -> None:
        """Read the remaining data of the pipes, which have no more writers, and close the pipes."""
        for outlet in self._outlets.values():
            while outlet.read():
                pass
        for pipe in self._pipes():
            pipe.close()
        self.watching.close()

    def finished(self) -> ProcessResult:
        """Return the result, or raise the exception of `on_stdout`."""
        if self._failure:
            raise self._failure
        limit = self._limit()
        exit_code = self.watching.report.exit_code
        if exit_code is None:
            # The program killed its own watch, and then the handle killed its processes.
            exit_code = -signal.SIGKILL
        return ProcessResult(
            exit_code=None if limit else exit_code,
            stdout=bytes(self._output["stdout"]),
            stderr=bytes(self._output["stderr"]),
            reply=bytes(self._output["reply"]) or None,
            limit=limit,
            elapsed_ms=round((time.monotonic() - self._started_at) * 1000),
        )

    def _limit(self) -> Limit | None:
        if self.watching.report.limit:
            return self.watching.report.limit
        if self._budget.passed:
            return Limit.OUTPUT
        return Limit.TIME if self.watching.is_late else None

    def _pipes(self) -> list[InputPipe | Outlet]:
        return [*self._outlets.values(), *([self._inlet] if self._inlet else [])]

    def _store_output(self, name: str, data: bytes) -> None:
        accepted = self._budget.take(data)
        self._output[name] += accepted
        if name == "stdout" and accepted and self._on_stdout and not self._failure:
            try:
                self._on_stdout(accepted)
            except Exception as error:  # noqa: BLE001 - `run` raises it to its caller
                self._failure = error
                self.watching.stop()


# --- Errors for programs that could not be started


_MISSING = (errno.ENOENT, errno.ENOTDIR)


def check_platform() -> None:
    """Raise `UsageError` with code `sandbox_unsupported` on systems without process groups."""
    if sys.platform == "win32":
        raise UsageError(
            "sandbox_unsupported",
            "bridged tools cannot run on Windows, which has no process groups and no fork",
            hint="Use Linux (including WSL), or macOS with weaker limits.",
        )


def start_error(number: int, stage: str, command: Sequence[str], directory: Path) -> NexusError:
    """Return the error for a failed start. `number` is errno, and `stage` the failed step."""
    problem = os.strerror(number) if number else "the system rejects an argument"
    if stage == "directory":
        return NotFoundError(
            "directory_not_found", f"cannot run a tool in the directory {directory}: {problem}"
        )
    if stage == "confinement":
        return UsageError(
            "confinement_failed",
            f"the kernel cannot confine a tool: {problem}",
            hint="Check that the folders of --allow-write and --workspace exist, and that your"
            " container permits confinement.",
        )
    program = command[0] if command else ""
    if number in _MISSING:
        return NotFoundError(
            "program_not_found",
            f"cannot run the program {program!r}: {problem}",
            hint="Install the program, or add its folder to the operator's PATH.",
        )
    return UsageError("program_not_started", f"cannot run the program {program!r}: {problem}")
