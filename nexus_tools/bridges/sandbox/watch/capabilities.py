"""The Linux capabilities of root.

The sandbox drops all capabilities except those for file access.
"""

import os
import struct

from nexus_tools.bridges.sandbox.watch import linux

_DROP_FROM_BOUNDS = 24
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522

# CAP_CHOWN, CAP_DAC_OVERRIDE, and CAP_FOWNER. Landlock limits the files to which they apply.
_KEPT = (0, 1, 3)
_HIGHEST = 63


def drop() -> None:
    """Drop all capabilities except three. A process without capabilities is not changed."""
    try:
        for number in range(_HIGHEST + 1):
            if number not in _KEPT:
                linux.set_process(_DROP_FROM_BOUNDS, number)
    except OSError:
        # The kernel does not have a capability with this number, or this process has no
        # capabilities.
        pass
    kept_bits = sum(1 << number for number in _KEPT) & _permitted()
    header = struct.pack("=Ii", _VERSION_3, 0)
    data = struct.pack("=6I", kept_bits, kept_bits, 0, 0, 0, 0)
    linux.system_call(_CAPSET[os.uname().machine], header, data)


def _permitted() -> int:
    with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123 - slow
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["CapPrm"], 16)
