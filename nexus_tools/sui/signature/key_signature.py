"""Signatures of one key: the flag byte of the scheme, a 64-byte signature, and the public key.

Source: `sui-types/src/crypto.rs`.
"""

from msgspec import Struct

from nexus_tools.sui.signature.ecdsa import is_ecdsa_key, is_valid_ecdsa_signature
from nexus_tools.sui.signature.scheme import (
    PUBLIC_KEY_LENGTHS,
    SignatureScheme,
    key_address,
    malformed,
    rejection_error,
)
from nexus_tools.sui.support.ed25519 import is_ed25519_key, verify_ed25519
from nexus_tools.sui.types.address import Address

KEY_SCHEMES = (SignatureScheme.ED25519, SignatureScheme.SECP256K1, SignatureScheme.SECP256R1)
SIGNATURE_LENGTH = 64
DOES_NOT_VERIFY = "Invalid signature was given to the function"


class KeySignature(Struct, frozen=True):
    """The signature of one key, and its public key."""

    scheme: SignatureScheme
    signature: bytes
    public_key: bytes

    @classmethod
    def parse(cls, data: bytes) -> "KeySignature":
        """Parse a serialized signature of one key. Raises `signature_malformed`."""
        if not data or data[0] not in KEY_SCHEMES:
            raise malformed("a signature of one key must start with the flag byte of its scheme")
        scheme = SignatureScheme(data[0])
        expected = 1 + SIGNATURE_LENGTH + PUBLIC_KEY_LENGTHS[scheme]
        if len(data) != expected:
            raise malformed(
                f"expected {expected} bytes for a signature of the scheme {scheme.name},"
                f" got {len(data)}"
            )
        return cls(scheme, data[1 : 1 + SIGNATURE_LENGTH], data[1 + SIGNATURE_LENGTH :])

    def address(self) -> Address:
        """Return the address of the key."""
        return key_address(self.scheme, self.public_key)

    def verify(self, digest: bytes) -> None:
        """Check the signature against the digest of a message. Raises `signature_invalid`."""
        if verifies(self.scheme, self.public_key, self.signature, digest):
            return
        if not is_public_key(self.scheme, self.public_key):
            raise rejection_error("Cannot parse pubkey")
        raise rejection_error(f"Fail to verify user sig {DOES_NOT_VERIFY}")


def verifies(scheme: SignatureScheme, public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a 64-byte signature of a message is valid.

    `scheme` is one of `KEY_SCHEMES`.
    """
    if scheme is SignatureScheme.ED25519:
        return verify_ed25519(public_key, signature, message)
    return is_valid_ecdsa_signature(scheme, public_key, signature, message)


def is_public_key(scheme: SignatureScheme, public_key: bytes) -> bool:
    """Return whether bytes are a point on the curve of a scheme, which is one of `KEY_SCHEMES`."""
    if scheme is SignatureScheme.ED25519:
        return is_ed25519_key(public_key)
    return is_ecdsa_key(scheme, public_key)
