"""Why a program could not be started, as errors for users."""

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from nexus_tools.errors import NexusError, NotFoundError, UsageError

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
    program = command[0] if command else ""
    if number in _MISSING:
        return NotFoundError(
            "program_missing",
            f"the program {program!r} cannot be run: {problem}",
            hint="install it, or give the operator's PATH the folder that it is in",
        )
    return UsageError("program_not_started", f"the program {program!r} cannot be run: {problem}")
