"""The verifier of published modules, which enforces the rules of Move and of Sui.

Start with `verifier.py`, which runs the passes in order. `sui/` has the passes of Sui.
"""

from nexus_tools.sui.localnet.verifier.errors import VerificationError
from nexus_tools.sui.localnet.verifier.sui import is_internal, verify_sui_module
from nexus_tools.sui.localnet.verifier.sui.meter import TICKS_MAX, PackageMeter, TickMeter
from nexus_tools.sui.localnet.verifier.verified_modules import VerifiedModules
from nexus_tools.sui.localnet.verifier.verifier import verify_module, verify_package

__all__ = [
    "TICKS_MAX",
    "PackageMeter",
    "TickMeter",
    "VerificationError",
    "VerifiedModules",
    "is_internal",
    "verify_module",
    "verify_package",
    "verify_sui_module",
]
