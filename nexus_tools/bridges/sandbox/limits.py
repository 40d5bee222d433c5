"""How much of a machine one run of a tool may take."""

from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Bounds of one run, over all processes that it starts; times in ms, sizes in bytes.

    `output_bytes` is what it may write to its pipes together, `disk_bytes` and `files` what its
    scratch directory may hold.
    """

    time_ms: int = 10_000
    memory_bytes: int = 2 * 2**30
    output_bytes: int = 10 * 2**20
    disk_bytes: int = 256 * 2**20
    files: int = 10_000
    processes: int = 64

    def left_since(self, began: float) -> "ProcessLimits":
        """What is left of them for something that `began` then, by the monotonic clock."""
        spent_ms = int((monotonic() - began) * 1_000)
        return replace(self, time_ms=max(self.time_ms - spent_ms, 1))


class Limit(StrEnum):
    """The bound that a run went over, for which it was stopped."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    DISK = "disk"
    PROCESSES = "processes"
