"""What a module says of other modules is what those declare, and its friends are of its package.

Source: `move-bytecode-verifier/src/{dependencies,friends}.rs`.
"""

from nexus_tools.sui.bytecode import CompiledModule, Dependencies, mismatches
from nexus_tools.sui.localnet.verifier.errors import VerificationError


def verify_dependencies(module: CompiledModule, dependencies: Dependencies) -> None:
    """Raise `VerificationError` for a missing module, or for what one does not declare so."""
    for found in mismatches(module, dependencies):
        if not found.name:
            status = "MISSING_DEPENDENCY"
        else:
            status = "LOOKUP_FAILED" if found.is_missing else "TYPE_MISMATCH"
        raise VerificationError(status, str(found), module.name)


def verify_friends(module: CompiledModule) -> None:
    """Refuse a module that names itself or a stranger as friend. Raises `VerificationError`."""
    if module.module_handles[module.self_handle] in module.friends:
        message = "a module is its own friend"
        raise VerificationError("INVALID_FRIEND_DECL_WITH_SELF", message, module.name)
    if any(module.addresses[friend.address] != module.address for friend in module.friends):
        status = "INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS"
        raise VerificationError(status, "a friend has another address", module.name)
