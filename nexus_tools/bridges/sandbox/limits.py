"""The resource limits of one run of a tool."""

from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """The limits of one run, in ms and bytes, which apply to all its processes together.

    `output_bytes` limits the output on all pipes together. `disk_bytes` and `files` limit the
    content of the scratch directory.
    """

    time_ms: int = 10_000
    memory_bytes: int = 2 * 2**30
    output_bytes: int = 10 * 2**20
    disk_bytes: int = 256 * 2**20
    files: int = 10_000
    processes: int = 64

    def remaining_after(self, began: float) -> "ProcessLimits":
        """Return the limits with the time that remains since `began` (monotonic clock, seconds)."""
        spent_ms = int((monotonic() - began) * 1_000)
        return replace(self, time_ms=max(self.time_ms - spent_ms, 1))


class Limit(StrEnum):
    """The limit for which a run was stopped."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    DISK = "disk"
    PROCESSES = "processes"
