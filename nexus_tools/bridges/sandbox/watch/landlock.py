"""Landlock: a process restricts its own access to a list of files, ports, and signals.

The kernel's documentation is https://docs.kernel.org/userspace-api/landlock.html. Each version of
the interface (`version`) can restrict more. This module uses all restrictions that the kernel's
version supports.
"""

import os
import struct
from collections.abc import Iterable
from contextlib import suppress

from nexus_tools.bridges.sandbox.watch import linux

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446

_ASK_VERSION = 1
_BENEATH_PATH = 1
_AT_PORT = 2

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIRECTORY = 1 << 3
_MAKE_CHARACTER_DEVICE = 1 << 6
_MAKE_BLOCK_DEVICE = 1 << 11
_TRUNCATE = 1 << 14
_CONTROL_DEVICE = 1 << 15

# The number of file rights in each version. The last number applies to all later versions.
_FILE_RIGHTS = (13, 14, 15, 15, 16)

_CONNECT_TCP = 2
_ALL_OF_TCP = 3
_ALL_SCOPES = 3

READ = _EXECUTE | _READ_FILE | _READ_DIRECTORY
DEVICE = _READ_FILE | _WRITE_FILE
_NEVER = _MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE | _CONTROL_DEVICE
WRITE = (1 << 16) - 1 - _NEVER
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _CONTROL_DEVICE

PORTS_SINCE = 4
"""The first version that distinguishes TCP ports (Linux 6.7)."""


def version() -> int:
    """Return the version of the kernel's Landlock interface, or 0 if it is missing or disabled."""
    if not linux.IS_LINUX:
        return 0
    try:
        return linux.system_call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


class Ruleset:
    """The rights that a process keeps.

    `enforce` permanently drops all other rights, also for children.
    """

    def __init__(self) -> None:
        self._version = version()
        self._files = (1 << _FILE_RIGHTS[min(self._version, len(_FILE_RIGHTS)) - 1]) - 1
        # Each Landlock version adds attributes: files, then TCP, then signals and abstract sockets.
        words = [self._files, _ALL_OF_TCP, _ALL_SCOPES]
        word_count = 1 + (self._version >= PORTS_SINCE) + (self._version >= 6)
        attributes = struct.pack(f"={word_count}Q", *words[:word_count])
        self._descriptor = linux.system_call(_CREATE_RULESET, attributes, len(attributes), 0)

    def allow(self, paths: Iterable[str], rights: int) -> None:
        """Keep rights on files and on everything below folders. Ignore missing paths."""
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                self._allow(path, rights & self._files)

    def _allow(self, path: str, rights: int) -> None:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            is_folder = os.path.isdir(path)  # noqa: PTH112 - pathlib costs 10 ms of every run
            applicable = rights if is_folder else rights & _FOR_FILES
            rule = struct.pack("=Qi", applicable, descriptor)
            linux.system_call(_ADD_RULE, self._descriptor, _BENEATH_PATH, rule, 0)
        finally:
            os.close(descriptor)

    def allow_ports(self, ports: Iterable[int]) -> None:
        """Keep the right to connect to these TCP ports of any host."""
        for port in ports:
            rule = struct.pack("=QQ", _CONNECT_TCP, port)
            linux.system_call(_ADD_RULE, self._descriptor, _AT_PORT, rule, 0)

    def enforce(self) -> None:
        """Drop all other rights. Set `PR_SET_NO_NEW_PRIVS` before this call."""
        linux.system_call(_RESTRICT_SELF, self._descriptor, 0)
        os.close(self._descriptor)
