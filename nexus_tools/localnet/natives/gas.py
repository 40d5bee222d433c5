"""What native functions cost.

The instructions of Move code are counted by the machine; the work of natives is counted here, in
internal gas units, of which 1 000 are one gas unit. The bases and costs per byte are those of the
protocol (`sui-protocol-config`), applied to the size of the input as this implementation knows it:
an approximation, since the real sizes count the layout of values in memory.
"""

from nexus_tools.localnet.vm import OutOfGas

INTERNAL_UNITS_PER_GAS_UNIT = 1_000


class NativeGas:
    """Internal gas units used by natives, up to a limit."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def charge(self, internal_units: int) -> None:
        """Use units. Raises `OutOfGas`."""
        self.used += internal_units
        if self.used > self.limit:
            raise OutOfGas
