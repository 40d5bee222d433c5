"""Whether a published module is safe to run: the verifier of Move bytecode."""

from nexus_tools.localnet.verifier.dependencies import Dependencies, ModuleId
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.verifier import verify_module

__all__ = ["Dependencies", "ModuleId", "VerificationError", "verify_module"]
