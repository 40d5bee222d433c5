"""What only the kernel of Linux offers (prctl(2)); elsewhere each of these does nothing."""

import os
import sys
from functools import cache
from typing import Any

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
    return IS_LINUX and bool(_library().prctl(option, value, 0, 0, 0) == 0)


# --- Calls that the C library may not have a name for


def system_call(number: int, *arguments: Any) -> int:
    """What syscall(2) gives; raises `OSError`. An integer is a register, bytes are a pointer."""
    import ctypes  # noqa: PLC0415 - as below

    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(int(_library().syscall(ctypes.c_long(number), *words)))


def mount(source: str, target: str, flags: int) -> None:
    """Change what is mounted where, without a type and without data; raises `OSError`."""
    import ctypes  # noqa: PLC0415 - as below

    names = source.encode(), target.encode()
    _checked(_library().mount(*names, None, ctypes.c_ulong(flags), None))


def unshare(flags: int) -> None:
    """Leave what is shared with other processes; raises `OSError`."""
    _checked(_library().unshare(flags))


def set_process(option: int, *values: int) -> None:
    """Set what prctl(2) sets; raises `OSError`."""
    import ctypes  # noqa: PLC0415 - as below

    padded = (*values, 0, 0, 0, 0)[:4]
    _checked(_library().prctl(option, *(ctypes.c_ulong(value) for value in padded)))


def _checked(result: int) -> int:
    import ctypes  # noqa: PLC0415 - as below

    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@cache
def _library() -> Any:
    import ctypes  # noqa: PLC0415 - costs 5 ms, and has no use elsewhere

    return ctypes.CDLL(None, use_errno=True)
