"""The descendants of this process, read from /proc."""

import os
from collections.abc import Callable

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110 - slow


def descendants(root: int) -> list[int]:
    """Return the IDs of all processes under `root`, parents first.

    The list is empty without /proc.
    """
    children_of = _children if _HAS_CHILDREN else _children_by_parent()
    pids = list(children_of(root))
    for pid in pids:
        pids.extend(children_of(pid))
    return pids


def memory_bytes(pids: list[int], enough: int) -> int:
    """Return the total memory of the processes in bytes.

    If the sum of the processes' resident memory is at most `enough` bytes, return that sum.
    Otherwise, return a sum in which shared pages count only once.
    """
    total = sum(_resident(pid) for pid in pids)
    if total <= enough:
        return total
    return sum(_proportional(pid) for pid in pids)


def _children(pid: int) -> list[int]:
    """Return the IDs of a process's children, including children that its threads started."""
    pids: list[int] = []
    folder = f"/proc/{pid}/task"
    for thread in _names(folder):
        pids.extend(int(name) for name in _text(f"{folder}/{thread}/children").split())
    return pids


def _children_by_parent() -> Callable[[int], list[int]]:
    """Return a lookup of children that reads the parent of every process, for older kernels."""
    children: dict[int, list[int]] = {}
    for name in _names("/proc"):
        # The second field is a name in parentheses, which may contain any characters.
        fields = _text(f"/proc/{name}/stat").rpartition(")")[2].split() if name.isdigit() else []
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    return lambda pid: children.get(pid, [])


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
    """Return the content of a file in /proc, or an empty string if the process has ended."""
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
