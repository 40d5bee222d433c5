"""Friends: other modules of the same package.

Source: `move-bytecode-verifier/src/friends.rs`.
"""

from nexus_tools.localnet.bytecode.module import CompiledModule
from nexus_tools.localnet.verifier.errors import VerificationError


def verify_friends(module: CompiledModule) -> None:
    """Refuse a module that names itself or a stranger as friend. Raises `VerificationError`."""
    if module.module_handles[module.self_handle] in module.friends:
        message = "a module is its own friend"
        raise VerificationError("INVALID_FRIEND_DECL_WITH_SELF", message, module.name)
    if any(module.addresses[friend.address] != module.address for friend in module.friends):
        status = "INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS"
        raise VerificationError(status, "a friend has another address", module.name)
