"""Key pairs that sign transactions, and their import and export formats.

The library `pysui_fastcrypto` of pysui implements the cryptography. Sources: SLIP-0010 and BIP-39
for mnemonics, `sui-types/src/crypto.rs` for the keystore's `flag || secret`, SIP-15 for
`suiprivkey…`.
"""

import asyncio
import re
import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.signature import (
    TRANSACTION_INTENT,
    MultiSig,
    MultiSigPublicKey,
    SignatureScheme,
    key_address,
)
from nexus_tools.sui.types.address import Address

SECRET_LENGTH = 32
_BECH32_PREFIX = "suiprivkey"
_HEXADECIMAL = re.compile(r"(0[xX])?[0-9a-fA-F]{64,66}|0[xX][0-9a-fA-F]*")

# The BIP-32 path of the first key for each scheme. The purpose is 44, 54 or 74.
_DERIVATION_PATHS = {
    SignatureScheme.ED25519: "m/44'/784'/0'/0'/0'",
    SignatureScheme.SECP256K1: "m/54'/784'/0'/0/0",
    SignatureScheme.SECP256R1: "m/74'/784'/0'/0/0",
}


class Signer(Protocol):
    """A signer for one address, such as a key in memory, a hardware wallet or a service."""

    @property
    def address(self) -> Address:
        """The address for which the signer signs."""

    def sign(self, transaction: bytes) -> bytes | Awaitable[bytes]:
        """Sign the BCS bytes of a `TransactionData`. Call `sign_transaction` instead of this.

        The result consists of the scheme's flag byte, the signature and the public key. A signer
        that waits, for example for a service, returns an awaitable of this result.
        """


@dataclass(frozen=True, slots=True, eq=False)
class KeyPair:
    """A secret key of one of the schemes `ED25519`, `SECP256K1` and `SECP256R1`."""

    scheme: SignatureScheme
    secret: bytes = field(repr=False)
    public_key: bytes

    @classmethod
    def new(cls) -> "KeyPair":
        """Create a random Ed25519 key. The key is not stored."""
        return cls.from_secret(SignatureScheme.ED25519, secrets.token_bytes(SECRET_LENGTH))

    @classmethod
    def from_secret(cls, scheme: SignatureScheme, secret: bytes) -> "KeyPair":
        """Return the key pair of 32 secret bytes. Raises `key_invalid`."""
        if scheme not in _DERIVATION_PATHS or len(secret) != SECRET_LENGTH:
            raise _bad_key("expected the flag byte of a signature scheme and 32 secret bytes")
        import pysui_fastcrypto  # noqa: PLC0415 - native code, only loaded on use

        entry = b64encode(bytes([scheme]) + secret).decode()
        try:
            _, public_key, _ = pysui_fastcrypto.keys_from_keystring(entry)
        except ValueError:
            raise _bad_key(f"the bytes are not a secret key of the scheme {scheme.name}") from None
        return cls(scheme, secret, bytes(public_key))

    @classmethod
    def from_bytes(cls, data: bytes) -> "KeyPair":
        """Parse the flag byte of a signature scheme and a secret key. Raises `key_invalid`."""
        if not data or data[0] not in SignatureScheme._value2member_map_:
            raise _bad_key("the key does not start with the flag byte of a signature scheme")
        return cls.from_secret(SignatureScheme(data[0]), data[1:])

    @classmethod
    def from_keystore(cls, entry: str) -> "KeyPair":
        """Parse an entry of a Sui keystore: a flag and a secret in base64. Raises `key_invalid`."""
        try:
            data = b64decode(entry, validate=True)
        except (Base64Error, ValueError, TypeError):
            raise _bad_key("the key is not valid base64") from None
        return cls.from_bytes(data)

    @classmethod
    def from_bech32(cls, text: str) -> "KeyPair":
        """Parse a key in the format `suiprivkey1…`. Raises `key_invalid`."""
        import pysui_fastcrypto  # noqa: PLC0415 - native code, only loaded on use

        try:
            flag, _, secret = pysui_fastcrypto.decode_bech32(text, _BECH32_PREFIX)
        except ValueError:
            raise _bad_key("the suiprivkey has a wrong or missing character") from None
        return cls.from_bytes(bytes([flag]) + bytes(secret))

    @classmethod
    def from_mnemonic(
        cls, words: str, scheme: SignatureScheme = SignatureScheme.ED25519
    ) -> "KeyPair":
        """Return the first key of a mnemonic, as Sui wallets derive it. Raises `key_invalid`."""
        import pysui_fastcrypto  # noqa: PLC0415 - native code, only loaded on use

        if scheme not in _DERIVATION_PATHS:
            raise _bad_key(
                f"keys of the scheme {scheme.name} cannot be derived from a recovery phrase"
            )
        phrase = " ".join(words.lower().split())
        try:
            _, secret = pysui_fastcrypto.keys_from_mnemonics(
                scheme, _DERIVATION_PATHS[scheme], phrase
            )
        except ValueError:
            raise _bad_key(
                "the words are not a BIP-39 recovery phrase: check their spelling"
            ) from None
        return cls.from_secret(scheme, bytes(secret))

    @classmethod
    def parse(cls, text: str) -> "KeyPair":
        """Parse a key: `suiprivkey…`, a mnemonic for an Ed25519 key, or a keystore entry.

        Raises `key_invalid`. The error does not contain any part of the text.
        """
        text = text.strip()
        if text.startswith(_BECH32_PREFIX):
            return cls.from_bech32(text)
        if _HEXADECIMAL.fullmatch(text):
            raise _bad_key(
                "the key is hexadecimal and does not contain the signature scheme."
                " Convert an Ed25519 key to a suiprivkey… with `sui keytool convert`"
            )
        return cls.from_mnemonic(text) if " " in text else cls.from_keystore(text)

    @property
    def address(self) -> Address:
        """The key's address."""
        return key_address(self.scheme, self.public_key)

    def sign(self, transaction: bytes) -> bytes:
        """Return the serialized signature of the BCS bytes of a `TransactionData`."""
        import pysui_fastcrypto  # noqa: PLC0415 - native code, only loaded on use

        encoded = b64encode(transaction).decode()
        return bytes(
            pysui_fastcrypto.sign_digest(self.scheme, self.secret, encoded, TRANSACTION_INTENT)
        )

    def to_keystore(self) -> str:
        """Return the key as an entry of a Sui keystore. The result is a secret."""
        return b64encode(bytes([self.scheme]) + self.secret).decode()

    def to_bech32(self) -> str:
        """Return the key as `suiprivkey…`. The result is a secret."""
        import pysui_fastcrypto  # noqa: PLC0415 - native code, only loaded on use

        data = bytes([self.scheme]) + self.secret
        return str(pysui_fastcrypto.encode_bech32(data, _BECH32_PREFIX))


class MultiSigSigner(Struct, frozen=True):
    """A signer for a multisig address that several keys share. `members` are the available keys.

    committee = MultiSigPublicKey.of((MultiSigMember(key.scheme, key.public_key), ...), threshold)
    signer = MultiSigSigner(committee, (key, ...))
    """

    public_key: MultiSigPublicKey
    members: tuple[Signer, ...]

    @property
    def address(self) -> Address:
        """The multisig address of the committee."""
        return self.public_key.address()

    def sign(self, transaction: bytes) -> bytes | Awaitable[bytes]:
        """Return the serialized signature of the BCS bytes of a `TransactionData`.

        If a member signs asynchronously, the result is an awaitable, and the members sign in
        parallel. Raises `multisig_not_enough` if the total weight of the available members is below
        the threshold.
        """
        results: list[bytes | Awaitable[bytes]] = []
        try:
            for member in self.members:
                results.append(member.sign(transaction))  # noqa: PERF401 - `results` survives errors
        except BaseException:
            for result in results:
                if asyncio.iscoroutine(result):
                    result.close()
            raise
        signatures = [result for result in results if not isinstance(result, Awaitable)]
        if len(signatures) == len(results):
            return self._combine(signatures)
        return self._combine_later(results)

    async def _combine_later(self, results: Sequence[bytes | Awaitable[bytes]]) -> bytes:
        waits = [
            asyncio.ensure_future(result) for result in results if isinstance(result, Awaitable)
        ]
        try:
            awaited = await asyncio.gather(*waits)
        finally:
            for wait in waits:
                wait.cancel()
        return self._combine(
            [*awaited, *(result for result in results if not isinstance(result, Awaitable))]
        )

    def _combine(self, signatures: Sequence[bytes]) -> bytes:
        return MultiSig.combine(self.public_key, signatures).encode()


def new_mnemonic() -> str:
    """Return a new mnemonic of twelve words, from which keys are derived.

    A mnemonic is a secret.
    """
    import pysui_fastcrypto  # noqa: PLC0415 - native code, only loaded on use

    return str(pysui_fastcrypto.generate_mnemonic_phrase("12"))


def _bad_key(reason: str) -> ValidationError:
    return ValidationError(
        "key_invalid",
        f"the key cannot be read: {reason}",
        hint="Use a suiprivkey…, an entry of a Sui keystore, or a recovery phrase.",
    )
