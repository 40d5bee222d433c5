"""What native functions cost.

The instructions of Move code are counted by the meter of the machine; what the work of natives
costs is told to it here, in internal gas units, of which 1 000 are one gas unit. The bases and
costs per byte are those of the protocol (`sui-protocol-config`).
"""

from nexus_tools.localnet.vm import Meter, OutOfGas

INTERNAL_UNITS_PER_GAS_UNIT = 1_000


class NativeGas:
    """Internal gas units used by natives, up to a limit; the transaction's meter is charged too."""

    __slots__ = ("limit", "meter", "used")

    def __init__(self, limit: int, meter: Meter | None = None) -> None:
        self.limit = limit
        self.meter = meter
        self.used = 0

    def charge(self, internal_units: int) -> None:
        """Use units. Raises `OutOfGas`."""
        self.used += internal_units
        if self.used > self.limit:
            raise OutOfGas
        if self.meter is not None:
            self.meter.charge_native(internal_units)
