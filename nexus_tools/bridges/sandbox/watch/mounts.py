"""A private view of the file system in which only a few folders can be changed.

Landlock does not cover modes, owners, times, and attributes of files, but a read-only mount does.
In addition, `/dev/shm` becomes a folder of the run, so that POSIX semaphores work but are not
shared with other runs.
"""

import os
import struct
import sys
from collections.abc import Iterable

from nexus_tools.bridges.sandbox.watch import linux

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - it is replaced by a folder of the run

_NEW_MOUNTS = 0x00020000
_NEW_USERS = 0x10000000

_BIND = 4096
_RECURSIVE = 16384
_PRIVATE = 1 << 18

_MOUNT_SETATTR = 442
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_READ_ONLY = 1
_NO_SET_USER_ID = 2


def main(arguments: "list[str]") -> None:
    """Exit with 0 if the kernel allows the mount, else with 1."""
    sys.exit(not close([], arguments[0]))


def close(folders: Iterable[str], shared_memory: str) -> bool:
    """Make everything except `folders` read-only, and return whether the kernel allows it.

    Raises:
        OSError: if only a part of the change succeeds.
    """
    writable = [folder for folder in folders if os.path.exists(folder)]  # noqa: PTH110 - slow
    try:
        _separate()
        linux.mount("none", "/", _RECURSIVE | _PRIVATE)
        for folder in writable:
            linux.mount(folder, folder, _BIND | _RECURSIVE)
        linux.mount(shared_memory, SHARED_MEMORY, _BIND)
        _change("/", add=_READ_ONLY | _NO_SET_USER_ID)
    except OSError:
        return False
    for folder in (*writable, SHARED_MEMORY):
        _change(folder, remove=_READ_ONLY)
    return True


def _separate() -> None:
    """Enter a new mount namespace. An unprivileged process also creates a user namespace."""
    try:
        linux.unshare(_NEW_MOUNTS)
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        linux.unshare(_NEW_MOUNTS | _NEW_USERS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def _change(path: str, *, add: int = 0, remove: int = 0) -> None:
    """Call mount_setattr(2) for a mount and the mounts in it, with bits to set and to clear."""
    attributes = struct.pack("=QQQQ", add, remove, 0, 0)
    linux.system_call(
        _MOUNT_SETATTR, _AT_FDCWD, path.encode(), _AT_RECURSIVE, attributes, len(attributes)
    )


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - pathlib costs 10 ms of every run
        file.write(text)
