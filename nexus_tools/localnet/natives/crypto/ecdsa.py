"""ECDSA signatures as the natives of both curves take them: r || s, and for recovery a byte more.

Source: `crypto/ecdsa_k1.rs` and `ecdsa_r1.rs` of `sui-move-natives`, and `fastcrypto`, which
refuses signatures whose s is in the upper half of the order.
"""

import hashlib
from collections.abc import Callable

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.natives.crypto.keccak import keccak256
from nexus_tools.localnet.natives.crypto.weierstrass import Curve, NoPublicKey
from nexus_tools.localnet.natives.table import charge, charge_blocks
from nexus_tools.localnet.vm import Context, NativeAbort, Reference
from nexus_tools.sui.type_tag import TypeTag

FAIL_TO_RECOVER_PUBLIC_KEY = 0
INVALID_SIGNATURE = 1

_SIGNATURE_LENGTH, _RECOVERABLE_LENGTH = 64, 65
_RECOVERY_IDS = range(4)
_COST_INVALID = 100
_BLOCKS = {0: 136, 1: 64}

_HASHES: dict[int, Callable[[bytes], bytes]] = {
    0: keccak256,
    1: lambda message: hashlib.sha256(message).digest(),
}


@dataclass(frozen=True, slots=True)
class EcdsaCurve:
    """A curve by its name in `cryptography`, with its arithmetic and what its natives cost."""

    name: str
    curve: Curve
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
        """The compressed public key that signed the message. Aborts if there is none."""
        data, signed = bytes(signature.read()), bytes(message.read())
        _charge(context, self.recover_cost, hash_function, len(signed))
        hashing = _HASHES.get(hash_function)
        if hashing is None:
            raise NativeAbort(FAIL_TO_RECOVER_PUBLIC_KEY)
        if len(data) != _RECOVERABLE_LENGTH or data[64] not in _RECOVERY_IDS:
            raise NativeAbort(INVALID_SIGNATURE)
        if not (self._is_scalar(data[:32]) and self._is_scalar(data[32:64])):
            raise NativeAbort(INVALID_SIGNATURE)
        try:
            return bytearray(self.curve.recover(hashing(signed), data[:64], data[64]))
        except NoPublicKey:
            raise NativeAbort(FAIL_TO_RECOVER_PUBLIC_KEY) from None

    def verify(
        self,
        context: Context,
        _types: tuple[TypeTag, ...],
        signature: Reference,
        public_key: Reference,
        message: Reference,
        hash_function: int,
    ) -> bool:
        """Whether the signature of the message is the key's. Whatever is malformed is not."""
        data, signed = bytes(signature.read()), bytes(message.read())
        _charge(context, self.verify_cost, hash_function, len(signed))
        hashing = _HASHES.get(hash_function)
        if hashing is None or len(data) != _SIGNATURE_LENGTH:
            return False
        r, s = int.from_bytes(data[:32], "big"), int.from_bytes(data[32:], "big")
        if s > self.curve.order // 2:
            return False
        return _verify(self.name, bytes(public_key.read()), r, s, hashing(signed))

    def _is_scalar(self, data: bytes) -> bool:
        return int.from_bytes(data, "big") < self.curve.order


def _charge(context: Context, base: int, hash_function: int, size: int) -> None:
    if hash_function in _BLOCKS:
        charge_blocks(context, base, size, _BLOCKS[hash_function])
    else:
        charge(context, _COST_INVALID)


def _verify(curve: str, public_key: bytes, r: int, s: int, digest: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 40 ms
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(getattr(ec, curve)(), public_key)
        # Keccak-256 has the length of SHA-256, which is all that a prehashed signature looks at.
        algorithm = ec.ECDSA(utils.Prehashed(SHA256()))
        key.verify(utils.encode_dss_signature(r, s), digest, algorithm)
    except (InvalidSignature, ValueError):
        return False
    return True
