"""What native functions cost.

The instructions of Move code are counted by the meter of the machine; what the work of natives
costs is told to it here, in internal gas units, of which 1 000 are one gas unit. The bases and
costs per byte are those of the protocol (`sui-protocol-config`).
"""

from collections.abc import Callable

from nexus_tools.localnet.vm import Meter

INTERNAL_UNITS_PER_GAS_UNIT = 1_000


class NativeGas:
    """Internal gas units for natives: those of the transaction's meter, or so many of their own.

    `charge` uses units. It raises `OutOfGas`.
    """

    __slots__ = ("_meter", "charge")

    def __init__(self, limit: int, meter: Meter | None = None) -> None:
        if meter is not None:
            meter.pays_natives = True
        self._meter = meter or Meter(limit)
        self.charge: Callable[[int], None] = self._meter.charge_native

    @property
    def used(self) -> int:
        """The units used so far, of a shared meter those of everything else too."""
        return self._meter.spent
