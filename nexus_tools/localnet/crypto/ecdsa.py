"""ECDSA signatures of a digest of 32 bytes, as `fastcrypto` takes them: r || s.

It refuses signatures whose s is in the upper half of the order.
"""

from msgspec import Struct

from nexus_tools.localnet.crypto.weierstrass import SECP256K1, SECP256R1, Curve

# Bit 0 is whether the nonce point's y is odd, bit 1 whether its x was at least the order, which r
# is less than.
_RECOVERY_IDS = range(4)


class MalformedSignature(Exception):  # noqa: N818 - it says what was given
    """These bytes are no signature, whatever the message is."""


class Ecdsa(Struct, frozen=True):
    """ECDSA over a curve, with the curve's name in `cryptography`."""

    name: str
    curve: Curve

    def recover(self, signature: bytes, digest: bytes) -> bytes:
        """The compressed public key of a signature with a byte that says which it is.

        Raises `MalformedSignature`, or `NoPublicKey` if there is none.
        """
        r, s, last = signature[:32], signature[32:64], signature[64:]
        if len(last) != 1 or last[0] not in _RECOVERY_IDS:
            raise MalformedSignature
        if not (self._is_scalar(r) and self._is_scalar(s)):
            raise MalformedSignature
        return self.curve.recover(digest, r + s, last[0])

    def verifies(self, public_key: bytes, signature: bytes, digest: bytes) -> bool:
        """Whether the signature of 64 bytes is the key's. Whatever is malformed is not."""
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        # If (r, s) is right for a message, so is (r, order - s): only one of them is accepted.
        return s <= self.curve.order // 2 and _verifies(self.name, public_key, r, s, digest)

    def _is_scalar(self, data: bytes) -> bool:
        return int.from_bytes(data, "big") < self.curve.order


ECDSA_K1 = Ecdsa("SECP256K1", SECP256K1)
ECDSA_R1 = Ecdsa("SECP256R1", SECP256R1)


def _verifies(curve: str, public_key: bytes, r: int, s: int, digest: bytes) -> bool:
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
