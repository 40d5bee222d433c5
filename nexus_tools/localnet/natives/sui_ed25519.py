"""`sui::ed25519`: Ed25519 signatures."""

from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, Reference
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 1_802, 2


def ed25519_verify(
    context: Context,
    _types: tuple[TypeTag, ...],
    signature: Reference,
    public_key: Reference,
    message: Reference,
) -> bool:
    """Whether the signature of the message is the key's (RFC 8032). Whatever is malformed is not.

    A real network follows ZIP 215, which differs for keys and signatures of small order alone.
    """
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 40 ms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    data = bytes(message.read())
    charge(context, _COST_BASE, _COST_PER_BYTE, len(data))
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes(public_key.read()))
        key.verify(bytes(signature.read()), data)
    except (InvalidSignature, ValueError):
        return False
    return True


NATIVES = natives_of(SUI_FRAMEWORK, "ed25519", ed25519_verify=ed25519_verify)
