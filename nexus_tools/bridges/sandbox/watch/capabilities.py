"""What root may do beyond others, given up but for the little that files need."""

import os
import struct

from nexus_tools.bridges.sandbox.watch import linux

_DROP_FROM_BOUNDS = 24
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522

# To change owners, to pass modes by, and to act as an owner: Landlock says on which files.
_KEPT = (0, 1, 3)
_HIGHEST = 63


def drop() -> None:
    """Keep three; for those who have none this does nothing."""
    try:
        for number in range(_HIGHEST + 1):
            if number not in _KEPT:
                linux.set_process(_DROP_FROM_BOUNDS, number)
    except OSError:
        # The kernel knows no more of them, or this process may not change them: it has none then.
        pass
    kept = sum(1 << number for number in _KEPT) & _permitted()
    header = struct.pack("=Ii", _VERSION_3, 0)
    data = struct.pack("=6I", kept, kept, 0, 0, 0, 0)
    linux.system_call(_CAPSET[os.uname().machine], header, data)


def _permitted() -> int:
    with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123 - slow
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["CapPrm"], 16)
