"""The native functions of `sui::ed25519`, which verify Ed25519 signatures."""

from nexus_tools.sui.localnet.natives.gas import charge_blocks
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.signature import verify_ed25519
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_COST_BASE, _BLOCK = 1_802, 128


def ed25519_verify(
    context: Context,
    _types: tuple[TypeTag, ...],
    signature: Reference,
    public_key: Reference,
    message: Reference,
) -> bool:
    """Return whether a signature is valid by ZIP 215. Malformed inputs are not valid."""
    data = bytes(message.read())
    charge_blocks(context, _COST_BASE, len(data), _BLOCK)
    return verify_ed25519(bytes(public_key.read()), bytes(signature.read()), data)


NATIVES = natives_of(SUI_FRAMEWORK, "ed25519", ed25519_verify=ed25519_verify)
