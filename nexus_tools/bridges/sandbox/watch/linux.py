"""What only the kernel of Linux offers (prctl(2)); elsewhere each of these does nothing."""

import os
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

IS_LINUX = sys.platform == "linux"


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent ends; whether that is so now."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal: int) -> bool:
    """Ask for `signal` when the parent ends; whether it will come."""
    return _prctl(_PR_SET_PDEATHSIG, signal)


def run_first() -> bool:
    """Run before all ordinary processes when there is something to do; whether that is allowed.

    Root may, others mostly not. What this process starts is ordinary again.
    """
    if not IS_LINUX:
        return False
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return False
    return True


def tasks() -> int | None:
    """How many threads there are on the machine, of all users; None where that is not told."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123 - pathlib costs 10 ms
            return int(file.read().split()[3].partition("/")[2])
    except OSError:
        return None


def hide_environment() -> bool:
    """Keep this process's memory and environment from other processes of its user.

    `/proc/<pid>/environ` and `mem` belong to root from then on, and debuggers cannot attach. A
    process that is root, or may trace any other, is not kept out. Returns whether it is so now.
    """
    return _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> bool:
    if not IS_LINUX:
        return False
    import ctypes  # noqa: PLC0415 - costs 5 ms, and has no use elsewhere

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
