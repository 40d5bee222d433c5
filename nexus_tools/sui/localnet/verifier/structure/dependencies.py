"""The check that a module's handles match other modules and its friends are in its package.

Source: `move-bytecode-verifier/src/{dependencies,friends}.rs`.
"""

from nexus_tools.sui.bytecode import CompiledModule, Dependencies, mismatches
from nexus_tools.sui.localnet.verifier.errors import VerificationError


def verify_dependencies(module: CompiledModule, dependencies: Dependencies) -> None:
    """Raise `VerificationError` for a missing module or a handle unlike its definition."""
    for mismatch in mismatches(module, dependencies):
        if not mismatch.name:
            status = "MISSING_DEPENDENCY"
        else:
            status = "LOOKUP_FAILED" if mismatch.is_missing else "TYPE_MISMATCH"
        raise VerificationError(status, str(mismatch), module.name)


def verify_friends(module: CompiledModule) -> None:
    """Raise `VerificationError` if a friend is the module itself or in another package."""
    if module.module_handles[module.self_handle] in module.friends:
        message = "a module is its own friend"
        raise VerificationError("INVALID_FRIEND_DECL_WITH_SELF", message, module.name)
    if any(module.addresses[friend.address] != module.address for friend in module.friends):
        status = "INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS"
        raise VerificationError(status, "a friend belongs to another package", module.name)
