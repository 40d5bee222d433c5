"""What one transaction carries through its calls."""

from typing import TYPE_CHECKING, Any

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.vm.metering import CALL_DEPTH_MAX, Meter

if TYPE_CHECKING:
    from nexus_tools.localnet.vm.machine import Machine


@dataclass(slots=True, eq=False)
class Context:
    """One per transaction; native functions get it first.

    `runtime` belongs to the native functions; `frames_left` counts the calls that may still be
    nested in the running ones.
    """

    machine: "Machine"
    meter: Meter
    runtime: Any = None
    frames_left: int = CALL_DEPTH_MAX
