"""The native functions of `sui::hmac`, which compute HMAC with SHA3-256."""

import hmac

from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 2
_BLOCK = 136


def hmac_sha3_256(
    context: Context, _types: tuple[TypeTag, ...], key: Reference, message: Reference
) -> bytearray:
    """Return the HMAC of a message with a key."""
    size = len(key.read()) + len(message.read())
    charge(context, _COST_BASE + 2 * ((size + 2 * _BLOCK - 2) // _BLOCK), _COST_PER_BYTE, size)
    return bytearray(hmac.digest(bytes(key.read()), bytes(message.read()), "sha3_256"))


NATIVES = natives_of(SUI_FRAMEWORK, "hmac", hmac_sha3_256=hmac_sha3_256)
