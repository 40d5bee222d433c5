"""Signature schemes: flag bytes, intents, addresses of keys, and errors of signatures.

Sources: `sui-types/src/{crypto,error}.rs` and `shared-crypto/src/intent.rs`.
"""

from enum import IntEnum

from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import blake2b256

INVALID_SIGNATURE_PREFIX = "Signature is not valid: "
"""The prefix of Sui's error message for an invalid signature."""

TRANSACTION_INTENT = b"\0\0\0"
PERSONAL_MESSAGE_INTENT = b"\x03\0\0"


class SignatureScheme(IntEnum):
    """A signature scheme. The value is the scheme's flag byte."""

    ED25519 = 0
    SECP256K1 = 1
    SECP256R1 = 2
    MULTISIG = 3
    BLS12381 = 4
    ZK_LOGIN = 5
    PASSKEY = 6


PUBLIC_KEY_LENGTHS = {
    SignatureScheme.ED25519: 32,
    SignatureScheme.SECP256K1: 33,
    SignatureScheme.SECP256R1: 33,
    SignatureScheme.PASSKEY: 33,
}


def key_address(scheme: SignatureScheme, public_key: bytes) -> Address:
    """Return the address of a public key."""
    return Address(blake2b256(bytes([scheme]), public_key))


def malformed(reason: str) -> NotAllowedError:
    """Return the error for bytes that are not a well-formed signature."""
    return NotAllowedError("signature_malformed", reason)


def rejection_error(reason: str) -> NotAllowedError:
    """Return the error for a signature that is not valid for its message."""
    return NotAllowedError("signature_invalid", INVALID_SIGNATURE_PREFIX + reason)
