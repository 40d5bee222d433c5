"""ECDSA signatures of a digest of 32 bytes, as `fastcrypto` takes them: r || s.

It refuses signatures whose s is in the upper half of the order.
"""

from msgspec import Struct

from nexus_tools.localnet.crypto.weierstrass import SECP256K1, SECP256R1, Curve
from nexus_tools.sui.signature import SignatureScheme, verifies_ecdsa_digest

# Bit 0 is whether the nonce point's y is odd, bit 1 whether its x was at least the order, which r
# is less than.
_RECOVERY_IDS = range(4)


class MalformedSignature(Exception):  # noqa: N818 - it says what was given
    """These bytes are no signature, whatever the message is."""


class Ecdsa(Struct, frozen=True):
    """ECDSA over a curve."""

    scheme: SignatureScheme
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
        return verifies_ecdsa_digest(self.scheme, public_key, signature, digest)

    def _is_scalar(self, data: bytes) -> bool:
        return int.from_bytes(data, "big") < self.curve.order


ECDSA_K1 = Ecdsa(SignatureScheme.SECP256K1, SECP256K1)
ECDSA_R1 = Ecdsa(SignatureScheme.SECP256R1, SECP256R1)
