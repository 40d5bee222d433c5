"""The processes that descend from this one, as /proc shows them."""

import os
from collections.abc import Callable

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110 - slow


def descendants(root: int) -> list[int]:
    """The ids of all processes under `root`, parents before children; empty without /proc."""
    of = _children if _HAS_CHILDREN else _children_by_parent()
    found = list(of(root))
    for pid in found:
        found.extend(of(pid))
    return found


def memory_bytes(pids: list[int], enough: int) -> int:
    """How much memory the processes have together.

    Pages that several of them share count once; they are told apart only if it matters, that is,
    if more than `enough` bytes come together when each process is counted with all that it has.
    """
    total = sum(_resident(pid) for pid in pids)
    if total <= enough:
        return total
    return sum(_proportional(pid) for pid in pids)


def _children(pid: int) -> list[int]:
    """The ids of a process's children, those that its threads started included."""
    found: list[int] = []
    folder = f"/proc/{pid}/task"
    for thread in _names(folder):
        found.extend(int(name) for name in _text(f"{folder}/{thread}/children").split())
    return found


def _children_by_parent() -> Callable[[int], list[int]]:
    """The same for kernels that do not list children: each process is asked for its parent."""
    found: dict[int, list[int]] = {}
    for name in _names("/proc"):
        # The second field is a name in parentheses, in which anything may stand.
        fields = _text(f"/proc/{name}/stat").rpartition(")")[2].split() if name.isdigit() else []
        if fields:
            found.setdefault(int(fields[1]), []).append(int(name))
    return lambda pid: found.get(pid, [])


def _resident(pid: int) -> int:
    fields = _text(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE_BYTES if fields else 0


def _proportional(pid: int) -> int:
    for line in _text(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - pathlib costs 10 ms
    except OSError:
        return []


def _text(path: str) -> str:
    """What a file of /proc says; nothing if the process is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        text = b""
        while part := os.read(descriptor, 65536):
            text += part
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return text.decode("ascii", "replace")
