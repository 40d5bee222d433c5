"""Signatures of users, and the addresses that belong to keys.

Source: `sui-types/src/crypto.rs` and `shared-inc/intent`. A serialized signature is a flag, 64
bytes of signature and the public key.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import blake2b256

TRANSACTION_INTENT = b"\0\0\0"
PERSONAL_MESSAGE_INTENT = b"\x03\0\0"


class SignatureScheme(IntEnum):
    """How a signature is made; the value is its flag byte."""

    ED25519 = 0
    SECP256K1 = 1
    SECP256R1 = 2
    MULTISIG = 3
    BLS12381 = 4
    ZK_LOGIN = 5
    PASSKEY = 6


_PUBLIC_KEY_LENGTHS = {
    SignatureScheme.ED25519: 32,
    SignatureScheme.SECP256K1: 33,
    SignatureScheme.SECP256R1: 33,
}
_SIGNATURE_LENGTH = 64


@dataclass(frozen=True, slots=True)
class UserSignature:
    """A signature with the public key that checks it."""

    scheme: SignatureScheme
    signature: bytes
    public_key: bytes

    @classmethod
    def parse(cls, data: bytes) -> "UserSignature":
        """Read a serialized signature of one key. Raises `signature_invalid`."""
        if not data or data[0] not in SignatureScheme._value2member_map_:
            raise _bad("it does not begin with the flag of a signature scheme")
        scheme = SignatureScheme(data[0])
        if scheme not in _PUBLIC_KEY_LENGTHS:
            raise _bad(f"signatures of the scheme {scheme.name} are not supported")
        if len(data) != 1 + _SIGNATURE_LENGTH + _PUBLIC_KEY_LENGTHS[scheme]:
            raise _bad(f"a signature of the scheme {scheme.name} does not have {len(data)} bytes")
        return cls(scheme, data[1:65], data[65:])

    def address(self) -> Address:
        """The address of the key."""
        return key_address(self.scheme, self.public_key)

    def verify(self, message: bytes) -> None:
        """Check the signature of `message` (intent and BCS bytes). Raises `signature_invalid`."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 40 ms

        try:
            _VERIFIERS[self.scheme](self.public_key, self.signature, blake2b256(message))
        except (InvalidSignature, ValueError):
            raise _bad("it does not fit the message and the public key") from None


def key_address(scheme: SignatureScheme, public_key: bytes) -> Address:
    """The address of a public key."""
    return Address(blake2b256(bytes([scheme]), public_key))


def _verify_ed25519(public_key: bytes, signature: bytes, digest: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    Ed25519PublicKey.from_public_bytes(public_key).verify(signature, digest)


# Orders of the curves: SEC 2, sections 2.4.1 and 2.4.2.
_SECP256K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_SECP256R1_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def _verify_ecdsa(
    curve: str, order: int, public_key: bytes, signature: bytes, digest: bytes
) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if s > order // 2:
        raise ValueError("the signature is malleable")
    key = ec.EllipticCurvePublicKey.from_encoded_point(getattr(ec, curve)(), public_key)
    key.verify(utils.encode_dss_signature(r, s), digest, ec.ECDSA(SHA256()))


_VERIFIERS: dict[SignatureScheme, Callable[[bytes, bytes, bytes], None]] = {
    SignatureScheme.ED25519: _verify_ed25519,
    SignatureScheme.SECP256K1: lambda key, signature, digest: _verify_ecdsa(
        "SECP256K1", _SECP256K1_ORDER, key, signature, digest
    ),
    SignatureScheme.SECP256R1: lambda key, signature, digest: _verify_ecdsa(
        "SECP256R1", _SECP256R1_ORDER, key, signature, digest
    ),
}


def _bad(reason: str) -> NotAllowedError:
    return NotAllowedError("signature_invalid", f"the signature is not valid: {reason}")
