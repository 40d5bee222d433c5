"""How much work the analysis of a module may be.

Source: `sui-verifier/src/meter.rs`; the limit is the one that validators sign with,
`sui-config/src/verifier_signing_config.rs`.
"""

from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.sui.violation import SUI_MOVE_VERIFICATION_TIMEDOUT

TICKS_MAX = 2_200_000


class Meter:
    """Counts ticks while a module is analyzed. The functions of a module share one limit."""

    def __init__(self, module: str, maximum: int = TICKS_MAX) -> None:
        self.ticks = 0
        self._module = module
        self._maximum = maximum

    def add(self, ticks: int) -> None:
        """Count. Raises `VerificationError` when the limit is reached."""
        if self.ticks + ticks >= self._maximum:
            raise VerificationError(
                SUI_MOVE_VERIFICATION_TIMEDOUT,
                "PartialVMError with status PROGRAM_TOO_COMPLEX and message program too complex."
                f" Ticks exceeded `{self._module}` will exceed limits:"
                f" `{self.ticks} current + {ticks} new > {self._maximum} max`)",
                self._module,
                None,
                None,
            )
        self.ticks += ticks
