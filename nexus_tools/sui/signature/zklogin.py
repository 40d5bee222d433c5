"""zkLogin signatures, which are parsed but always rejected, because proofs are not verified.

Source: `sui-types/src/zk_login_authenticator.rs` and `ZkLoginInputs` of `fastcrypto-zkp`.
"""

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError, byte_vector, record, string, u8, u64, vector
from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.signature.key_signature import KeySignature
from nexus_tools.sui.signature.scheme import SignatureScheme, malformed, rejection_error
from nexus_tools.sui.types.address import Address

_PROOF = record((vector(string), vector(vector(string)), vector(string)))
_ISSUER = record((string, u8))
_INPUTS = record((_PROOF, _ISSUER, string, string))
_AUTHENTICATOR = record((_INPUTS, u64, byte_vector))


class ZkLogin(Struct, frozen=True):
    """A zkLogin signature, made with an ephemeral key that is valid until `max_epoch`."""

    address_seed: str
    max_epoch: int
    key_signature: KeySignature

    @classmethod
    def parse(cls, data: bytes) -> "ZkLogin":
        """Parse a serialized zkLogin signature, which consists of a flag byte and BCS bytes.

        Raises `signature_malformed`.
        """
        if data[:1] != bytes([SignatureScheme.ZK_LOGIN]):
            raise malformed("a zkLogin signature must start with the flag byte 5")
        try:
            inputs, max_epoch, key_signature = _AUTHENTICATOR.decode(data[1:])
        except BcsError as error:
            raise malformed(f"the zkLogin authenticator cannot be read: {error.message}") from None
        _, _, _, address_seed = inputs
        return cls(address_seed, max_epoch, KeySignature.parse(key_signature))

    def address(self) -> Address:
        """Raise `signature_invalid`, because this network does not have zkLogin accounts."""
        raise zklogin_unsupported_error()

    def verify(self, _digest: bytes, /) -> None:
        """Raise `signature_invalid`, because zkLogin proofs are not verified."""
        raise zklogin_unsupported_error()


def zklogin_unsupported_error() -> NotAllowedError:
    """Return the error for a zkLogin signature."""
    return rejection_error(
        "zkLogin is not supported on this network: sign with a key, a passkey or a multisig"
    )
