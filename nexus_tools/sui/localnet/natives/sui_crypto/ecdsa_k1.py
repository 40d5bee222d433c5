"""The native functions of `sui::ecdsa_k1`, for the signatures of Bitcoin and Ethereum (secp256k1).

Source: `crypto/ecdsa_k1.rs` and `ecdsa_r1.rs` of `sui-move-natives`. The native functions of both
curves differ only in their costs.
"""

from msgspec import Struct

from nexus_tools.sui.localnet.crypto.curves.weierstrass import SECP256K1, NoPublicKey
from nexus_tools.sui.localnet.crypto.ecdsa import ECDSA_K1, HASHES, Ecdsa, MalformedSignature
from nexus_tools.sui.localnet.natives.gas import charge, charge_blocks
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.types.address import SUI_FRAMEWORK
from nexus_tools.sui.types.type_tag import TypeTag

_INVALID_PUBLIC_KEY = 2
_COMPRESSED_LENGTH = 33
_COST = 52

_FAIL_TO_RECOVER_PUBLIC_KEY, _INVALID_SIGNATURE = 0, 1
_SIGNATURE_LENGTH = 64
_COST_INVALID = 100

# The block sizes of the hash functions in bytes, which determine their costs.
_BLOCKS = {0: 136, 1: 64}


class EcdsaNatives(Struct, frozen=True):
    """The native functions of a curve, and their costs."""

    ecdsa: Ecdsa
    recover_cost: int
    verify_cost: int

    def recover(
        self,
        context: Context,
        _types: tuple[TypeTag, ...],
        signature: Reference,
        message: Reference,
        hash_function: int,
    ) -> bytearray:
        """Return the compressed public key that signed a message. Abort if no such key exists."""
        data, message_bytes = bytes(signature.read()), bytes(message.read())
        _charge(context, self.recover_cost, hash_function, len(message_bytes))
        hash_message = HASHES.get(hash_function)
        if hash_message is None:
            raise NativeAbort(_FAIL_TO_RECOVER_PUBLIC_KEY)
        try:
            return bytearray(self.ecdsa.recover(data, hash_message(message_bytes)))
        except MalformedSignature:
            raise NativeAbort(_INVALID_SIGNATURE) from None
        except NoPublicKey:
            raise NativeAbort(_FAIL_TO_RECOVER_PUBLIC_KEY) from None

    def verify(
        self,
        context: Context,
        _types: tuple[TypeTag, ...],
        signature: Reference,
        public_key: Reference,
        message: Reference,
        hash_function: int,
    ) -> bool:
        """Return whether a signature is valid. Malformed inputs are not valid."""
        data, message_bytes = bytes(signature.read()), bytes(message.read())
        _charge(context, self.verify_cost, hash_function, len(message_bytes))
        hash_message = HASHES.get(hash_function)
        if hash_message is None or len(data) != _SIGNATURE_LENGTH:
            return False
        return self.ecdsa.verifies(bytes(public_key.read()), data, hash_message(message_bytes))


def _charge(context: Context, base: int, hash_function: int, size: int) -> None:
    if hash_function in _BLOCKS:
        charge_blocks(context, base, size, _BLOCKS[hash_function])
    else:
        charge(context, _COST_INVALID)


_CURVE = EcdsaNatives(ECDSA_K1, recover_cost=500, verify_cost=1_470)


def decompress_pubkey(
    context: Context, _types: tuple[TypeTag, ...], public_key: Reference
) -> bytearray:
    """Decompress a public key from 33 to 65 bytes. Abort for an invalid public key."""
    charge(context, _COST)
    data = bytes(public_key.read())
    # See SEC 1, section 2.3.3. The first byte is 2 if y is even, 3 if y is odd, and 4 if y follows
    # x.
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
