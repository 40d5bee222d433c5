"""The limits of the work to verify a module or a package.

Source: `sui-verifier/src/meter.rs`. The limit is the value that validators use before they sign a
transaction (`sui-config/src/verifier_signing_config.rs`).
"""

from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.sui.violation import SUI_MOVE_VERIFICATION_TIMEDOUT

TICKS_MAX = 2_200_000


class TickMeter:
    """A counter of ticks for one module. All functions of the module share one limit."""

    def __init__(self, module: str, maximum: int = TICKS_MAX) -> None:
        self.ticks = 0
        self._module = module
        self._maximum = maximum

    def add(self, ticks: int) -> None:
        """Count ticks. Raises `VerificationError` when the limit is reached."""
        if self.ticks + ticks >= self._maximum:
            raise _timed_out(self._module, self._module, self.ticks, ticks, self._maximum)
        self.ticks += ticks


class PackageMeter:
    """A counter of the ticks for all modules of a package, with one limit for both verifiers."""

    def __init__(self, maximum: int = TICKS_MAX) -> None:
        self.ticks = 0
        self._maximum = maximum

    def add(self, module: str, ticks: int) -> None:
        """Count a module's ticks. Raises `VerificationError` when the limit is reached."""
        if self.ticks + ticks >= self._maximum:
            raise _timed_out("<unknown>", module, self.ticks, ticks, self._maximum)
        self.ticks += ticks


def _timed_out(
    scope: str, module: str, ticks: int, new_ticks: int, maximum: int
) -> VerificationError:
    return VerificationError(
        SUI_MOVE_VERIFICATION_TIMEDOUT,
        "PartialVMError with status PROGRAM_TOO_COMPLEX and message program too complex."
        f" Ticks exceeded `{scope}` will exceed limits:"
        f" `{ticks} current + {new_ticks} new > {maximum} max`)",
        module,
    )
