"""How much work verifying a module, or a package, may be.

Source: `sui-verifier/src/meter.rs`; the limit is the one that validators sign with,
`sui-config/src/verifier_signing_config.rs`.
"""

from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.sui.violation import SUI_MOVE_VERIFICATION_TIMEDOUT

TICKS_MAX = 2_200_000


class TickMeter:
    """Counts ticks while a module is analyzed. The functions of a module share one limit."""

    def __init__(self, module: str, maximum: int = TICKS_MAX) -> None:
        self.ticks = 0
        self._module = module
        self._maximum = maximum

    def add(self, ticks: int) -> None:
        """Count. Raises `VerificationError` when the limit is reached."""
        if self.ticks + ticks >= self._maximum:
            raise _timed_out(self._module, self._module, self.ticks, ticks, self._maximum)
        self.ticks += ticks


class PackageMeter:
    """Adds up what the modules of a package took, for the rules of Move and for Sui's."""

    def __init__(self, maximum: int = TICKS_MAX) -> None:
        self.ticks = 0
        self._maximum = maximum

    def add(self, module: str, ticks: int) -> None:
        """Count what a module took. Raises `VerificationError` when the limit is reached."""
        if self.ticks + ticks >= self._maximum:
            raise _timed_out("<unknown>", module, self.ticks, ticks, self._maximum)
        self.ticks += ticks


def _timed_out(
    scope: str, module: str, ticks: int, further: int, maximum: int
) -> VerificationError:
    return VerificationError(
        SUI_MOVE_VERIFICATION_TIMEDOUT,
        "PartialVMError with status PROGRAM_TOO_COMPLEX and message program too complex."
        f" Ticks exceeded `{scope}` will exceed limits:"
        f" `{ticks} current + {further} new > {maximum} max`)",
        module,
    )
