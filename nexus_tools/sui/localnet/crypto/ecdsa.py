"""ECDSA signatures r || s of a 32-byte digest, with the same rules as in `fastcrypto`.

Signatures with s in the upper half of the order are rejected.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from nexus_tools.sui.localnet.crypto.curves.weierstrass import (
    SECP256K1,
    SECP256R1,
    Curve,
    NoPublicKey,
    compress,
)
from nexus_tools.sui.localnet.crypto.keccak import keccak256
from nexus_tools.sui.signature import (
    SignatureScheme,
    is_valid_ecdsa_digest_signature,
    sign_ecdsa_digest,
)

# Bit 0 of a recovery id is set if y of the nonce point is odd. Bit 1 is set if x of the nonce point
# is at least the order, because r is reduced.
_RECOVERY_IDS = range(4)
_SECRET_LENGTH = 32


HASHES: dict[int, Callable[[bytes], bytes]] = {
    0: keccak256,
    1: lambda message: hashlib.sha256(message).digest(),
}
"""The hash functions by number, which is `KECCAK256` or `SHA256` of `sui::ecdsa_k1`."""


class MalformedSignature(Exception):  # noqa: N818 - the name states the cause
    """Bytes that are not a signature of any message."""


class InvalidSecret(Exception):  # noqa: N818 - the name states the cause
    """Bytes that are not a secret key of the curve."""


class Ecdsa(Struct, frozen=True):
    """ECDSA over a curve."""

    scheme: SignatureScheme
    curve: Curve

    def recover(self, signature: bytes, digest: bytes) -> bytes:
        """Recover the compressed public key from a signature that ends with a recovery id.

        Raises:
            MalformedSignature: The bytes are not a signature.
            NoPublicKey: No public key matches the signature.
        """
        r, s, last = signature[:32], signature[32:64], signature[64:]
        if len(last) != 1 or last[0] not in _RECOVERY_IDS:
            raise MalformedSignature
        if not (self._is_scalar(r) and self._is_scalar(s)):
            raise MalformedSignature
        return self.curve.recover(digest, r + s, last[0])

    def verifies(self, public_key: bytes, signature: bytes, digest: bytes) -> bool:
        """Return whether a 64-byte signature is valid for a key. Malformed inputs are not valid."""
        return is_valid_ecdsa_digest_signature(self.scheme, public_key, signature, digest)

    def public_key(self, secret: bytes) -> bytes:
        """Return the compressed public key of a secret. Raises `InvalidSecret`."""
        scalar = int.from_bytes(secret, "big")
        point = self.curve.multiply(scalar, self.curve.generator)
        if len(secret) != _SECRET_LENGTH or not 0 < scalar < self.curve.order or point is None:
            raise InvalidSecret
        return compress(point)

    def sign(self, secret: bytes, digest: bytes) -> bytes:
        """Return the deterministic signature r || s. Raises `InvalidSecret`. Source: RFC 6979."""
        self.public_key(secret)
        return sign_ecdsa_digest(self.scheme, secret, digest)

    def sign_recoverable(self, secret: bytes, digest: bytes) -> bytes:
        """Return the signature, followed by a byte with its recovery id.

        Raises `InvalidSecret`.
        """
        public_key, signature = self.public_key(secret), self.sign(secret, digest)
        for last in _RECOVERY_IDS:
            with suppress(NoPublicKey):
                if self.curve.recover(digest, signature, last) == public_key:
                    return signature + bytes([last])
        raise NoPublicKey

    def _is_scalar(self, data: bytes) -> bool:
        return int.from_bytes(data, "big") < self.curve.order


ECDSA_K1 = Ecdsa(SignatureScheme.SECP256K1, SECP256K1)
ECDSA_R1 = Ecdsa(SignatureScheme.SECP256R1, SECP256R1)
