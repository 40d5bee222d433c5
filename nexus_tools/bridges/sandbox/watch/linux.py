"""Functions of the Linux kernel (prctl(2) and others).

The functions have no effect on other systems.
"""

import os
import sys
from functools import cache
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

IS_LINUX = sys.platform == "linux"


def adopt_orphans() -> bool:
    """Become the parent of every orphaned descendant, and return whether that succeeded."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal: int) -> bool:
    """Request `signal` for the end of the parent, and return whether that succeeded."""
    return _prctl(_PR_SET_PDEATHSIG, signal)


def set_realtime_priority() -> bool:
    """Give this process real-time priority, and return whether that is permitted.

    Root has the permission, but other users usually do not. Child processes have ordinary priority.
    """
    if not IS_LINUX:
        return False
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return False
    return True


def tasks() -> int | None:
    """Return the number of threads on the machine over all users, or None if it is unknown."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123 - pathlib costs 10 ms
            return int(file.read().split()[3].partition("/")[2])
    except OSError:
        return None


def hide_environment() -> bool:
    """Hide this process's memory and environment from other processes of its user.

    `/proc/<pid>/environ` and `mem` then belong to root, and debuggers cannot attach. Processes of
    root, and processes that may trace any process, still have access. Returns whether the call
    succeeded.
    """
    return _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> bool:
    return IS_LINUX and bool(_library().prctl(option, value, 0, 0, 0) == 0)


# --- System calls that the C library may not wrap


def system_call(number: int, *arguments: Any) -> int:
    """Call syscall(2) and return its result. Integers are passed as values, and bytes as a pointer.

    Raises:
        OSError: if the call fails.
    """
    import ctypes  # noqa: PLC0415 - as below

    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(int(_library().syscall(ctypes.c_long(number), *words)))


def mount(source: str, target: str, flags: int) -> None:
    """Change the mounts of this process, without a file system type and without data.

    See the manual page mount(2).

    Raises:
        OSError: if the call fails.
    """
    import ctypes  # noqa: PLC0415 - as below

    names = source.encode(), target.encode()
    _checked(_library().mount(*names, None, ctypes.c_ulong(flags), None))


def unshare(flags: int) -> None:
    """Leave namespaces that are shared with other processes.

    See the manual page unshare(2).

    Raises:
        OSError: if the call fails.
    """
    _checked(_library().unshare(flags))


def set_process(option: int, *values: int) -> None:
    """Call prctl(2) with an option and its values.

    Raises:
        OSError: if the call fails.
    """
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
    import ctypes  # noqa: PLC0415 - takes 5 ms, and only these functions need it

    return ctypes.CDLL(None, use_errno=True)
