"""`sui::ecdsa_k1`: signatures on secp256k1, as Bitcoin and Ethereum have them."""

from nexus_tools.localnet.natives.crypto.ecdsa import EcdsaCurve
from nexus_tools.localnet.natives.crypto.weierstrass import SECP256K1, NoPublicKey
from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.type_tag import TypeTag

_INVALID_PUBLIC_KEY = 2
_COMPRESSED_LENGTH = 33
_COST = 52

_CURVE = EcdsaCurve("SECP256K1", SECP256K1, recover_cost=500, verify_cost=1_470)


def decompress_pubkey(
    context: Context, _types: tuple[TypeTag, ...], public_key: Reference
) -> bytearray:
    """A public key of 33 bytes as 65. Aborts if it is no point of the curve."""
    charge(context, _COST)
    data = bytes(public_key.read())
    if len(data) != _COMPRESSED_LENGTH or data[0] not in (2, 3):
        raise NativeAbort(_INVALID_PUBLIC_KEY)
    try:
        x, y = SECP256K1.lift(int.from_bytes(data[1:], "big"), odd=data[0] == 3)
    except NoPublicKey:
        raise NativeAbort(_INVALID_PUBLIC_KEY) from None
    return bytearray(b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big"))


NATIVES = natives_of(
    SUI_FRAMEWORK,
    "ecdsa_k1",
    secp256k1_ecrecover=_CURVE.recover,
    secp256k1_verify=_CURVE.verify,
    decompress_pubkey=decompress_pubkey,
)
