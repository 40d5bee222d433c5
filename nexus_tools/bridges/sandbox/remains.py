"""The net under the watch: what to kill when a program has killed those who watch it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# For what the kernel cannot kill at the moment: a process that waits for a disk.
_PATIENCE_S = 5.0


def end_remains(group: int | None, folder: Path) -> None:
    """Kill the process group, then each process that was given, or works in, the folder.

    For the case that the watch itself was killed: who left the group is found by the directory
    that its environment names, unless it hides that from /proc.
    """
    if group is not None:
        _kill(-group)
    give_up = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up:
        found = [pid for pid in _processes() if _belongs(pid, folder)]
        if not found:
            return
        for pid in found:
            _kill(pid)


def _processes() -> Iterator[int]:
    proc = Path("/proc")
    if proc.is_dir():
        yield from (int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())


def _belongs(pid: int, folder: Path) -> bool:
    if pid == os.getpid():
        return False
    try:
        if os.fsencode(folder) in Path(f"/proc/{pid}/environ").read_bytes():
            return True
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder)
    except OSError:
        return False


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
