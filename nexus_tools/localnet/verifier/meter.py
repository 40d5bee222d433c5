"""How much work verifying a module may be.

Source: `move-bytecode-verifier-meter/src/bound.rs`, with the limits of `sui-protocol-config`.
"""

from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.limits import FUNCTION_UNITS_MAX, MODULE_UNITS_MAX


class Meter:
    """The work units that the functions of one module have taken."""

    __slots__ = ("_function", "_left_of_module", "_limit", "_module", "units")

    def __init__(self, module: str) -> None:
        self._module = module
        self._function: str | None = None
        self._left_of_module = MODULE_UNITS_MAX
        self._limit = 0
        self.units = 0

    def enter(self, function: str) -> None:
        """Begin with the next function; what was used by the last is of the module's budget."""
        self._left_of_module -= self.units
        self._function = function
        self._limit = min(FUNCTION_UNITS_MAX, self._left_of_module)
        self.units = 0

    @property
    def total(self) -> int:
        """The units of all functions so far."""
        return MODULE_UNITS_MAX - self._left_of_module + self.units

    def add(self, units: int) -> None:
        """Take units. Raises `VerificationError` if there are none left."""
        self.units += units
        if self.units > self._limit:
            message = f"verifying it takes more than {self._limit} units"
            raise VerificationError("PROGRAM_TOO_COMPLEX", message, self._module, self._function)
