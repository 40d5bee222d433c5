"""User signatures of any scheme, for transactions and messages.

Source: `GenericSignature` of `sui-types/src/signature.rs`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from nexus_tools.sui.signature.key_signature import KeySignature
from nexus_tools.sui.signature.multisig import MultiSig
from nexus_tools.sui.signature.passkey import Passkey
from nexus_tools.sui.signature.scheme import SignatureScheme, malformed
from nexus_tools.sui.signature.zklogin import ZkLogin
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import blake2b256


class Authenticator(Protocol):
    """The interface of a signature of one scheme."""

    def address(self) -> Address:
        """Return the signer's address.

        Raises `signature_invalid` if the address cannot be derived.
        """

    def verify(self, digest: bytes, /) -> None:
        """Check the signature against a message's digest. Raises `signature_invalid`."""


_PARSERS: dict[int, Callable[[bytes], Authenticator]] = {
    SignatureScheme.ED25519: KeySignature.parse,
    SignatureScheme.SECP256K1: KeySignature.parse,
    SignatureScheme.SECP256R1: KeySignature.parse,
    SignatureScheme.MULTISIG: MultiSig.parse,
    SignatureScheme.ZK_LOGIN: ZkLogin.parse,
    SignatureScheme.PASSKEY: Passkey.parse,
}


class UserSignature(Struct, frozen=True):
    """A parsed signature of any scheme that users can sign with."""

    scheme: SignatureScheme
    authenticator: Authenticator

    @classmethod
    @lru_cache(maxsize=16)  # each signature is parsed several times
    def parse(cls, data: bytes) -> "UserSignature":
        """Parse a serialized signature, which consists of a flag byte and the data of its scheme.

        Raises `signature_malformed`.
        """
        if not data or data[0] not in _PARSERS:
            raise malformed("a user signature must start with the flag byte of its scheme")
        return cls(SignatureScheme(data[0]), _PARSERS[data[0]](data))

    def address(self) -> Address:
        """Return the signer's address. Raises `signature_invalid` for zkLogin."""
        return self.authenticator.address()

    def verify(self, message: bytes) -> None:
        """Check the signature of an intent message in BCS. Raises `signature_invalid`."""
        self.authenticator.verify(blake2b256(message))
