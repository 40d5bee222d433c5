"""Whether published modules are safe to run: the rules of Move, and those of Sui besides."""

from nexus_tools.localnet.verifier.dependencies import Dependencies, ModuleId
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.package import verify_package
from nexus_tools.localnet.verifier.verifier import verify_module

__all__ = ["Dependencies", "ModuleId", "VerificationError", "verify_module", "verify_package"]
