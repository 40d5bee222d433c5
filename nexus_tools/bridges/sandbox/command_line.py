"""The command line of the program that watches over another one."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nexus_tools.bridges.sandbox import detached
from nexus_tools.bridges.sandbox.limits import ProcessLimits
from nexus_tools.bridges.sandbox.scratch import Scratch

_WATCH = "nexus_tools.bridges.sandbox.watch.main"


def launcher(command: Sequence[str], *, scratch: Scratch, limits: ProcessLimits) -> list[str]:
    """The command line that runs a long-lived program under the same watch as `run`.

    Its standard streams, environment and working directory are those that the line is started
    with. It may live as long as it likes and write as much; the other bounds hold. When it ends,
    or the process that started the line does, or SIGTERM comes, all that it started is killed.
    """
    return watch_command(command, scratch=scratch, limits=limits)


def watch_command(
    command: Sequence[str],
    *,
    scratch: Scratch,
    limits: ProcessLimits,
    time_ms: int = 0,
    directory: Path | None = None,
    report: int = -1,
    reply: int = -1,
) -> list[str]:
    """The whole command line; descriptors are -1 where there is none, the time 0."""
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
    words = [f"{name}={value}" for name, value in order.items()]
    return [sys.executable, "-I", "-S", detached.__file__, _WATCH, *words, "--", *command]
