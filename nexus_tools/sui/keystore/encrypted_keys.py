"""Keys that are encrypted with a passphrase, in a file next to the keystore.

The Sui CLI rejects a whole keystore if it cannot decode one of the entries, so the keystore itself
cannot contain encrypted entries. Source: the CLI's `keystore.rs`. Each key is encrypted separately
with AES-256-GCM. Scrypt (RFC 7914) derives the encryption key from the passphrase. The entry also
contains the public key, which is authenticated as associated data.
"""

import secrets
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from nexus_tools.sui.errors import NotAllowedError, UsageError, ValidationError
from nexus_tools.sui.keystore.keys import KeyPair
from nexus_tools.sui.signature import SignatureScheme, key_address
from nexus_tools.sui.signature.scheme import PUBLIC_KEY_LENGTHS
from nexus_tools.sui.types.address import Address

COST = 2**17
"""The cost parameter N of scrypt.

With r = 8, an attacker needs 128 MiB and some tenths of a second to test one passphrase.
"""

_MAX_COST = 2**20
_BLOCK_SIZE, _PARALLEL = 8, 1
_KEY_LENGTH, _SALT_LENGTH, _NONCE_LENGTH = 32, 16, 12


class EncryptedKey(Struct, frozen=True):
    """A key pair with an encrypted secret. Bytes are encoded as base64 because the file is JSON."""

    alias: str
    public_key_base64: str
    """The scheme's flag byte and the public key, in the format of the Sui CLI's alias file."""

    scrypt_cost: int
    salt_base64: str
    nonce_base64: str
    secret_base64: str

    @classmethod
    def encrypt(cls, key: KeyPair, alias: str, passphrase: str) -> "EncryptedKey":
        """Encrypt a key. Raises `passphrase_empty`."""
        from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - only loaded on use
            AESGCM,
        )

        if not passphrase:
            message = "the passphrase is empty"
            raise UsageError(
                "passphrase_empty", message, hint="Choose a passphrase of several words."
            )
        public = _base64(bytes([key.scheme]) + key.public_key)
        salt, nonce = secrets.token_bytes(_SALT_LENGTH), secrets.token_bytes(_NONCE_LENGTH)
        cipher = AESGCM(_derived(passphrase, salt, COST))
        secret = cipher.encrypt(nonce, key.secret, _beside(public, COST))
        return cls(alias, public, COST, _base64(salt), _base64(nonce), _base64(secret))

    def decrypt(self, passphrase: str) -> KeyPair:
        """Decrypt the key. Raises `passphrase_wrong`."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - only loaded on use
        from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - as above
            AESGCM,
        )

        derived = _derived(passphrase, b64decode(self.salt_base64), self.scrypt_cost)
        beside = _beside(self.public_key_base64, self.scrypt_cost)
        try:
            secret = AESGCM(derived).decrypt(
                b64decode(self.nonce_base64), b64decode(self.secret_base64), beside
            )
        except InvalidTag:
            raise NotAllowedError(
                "passphrase_wrong",
                f"the passphrase of the key {self.alias} is wrong",
                hint="Check capitalization and the keyboard layout. A passphrase cannot be reset.",
            ) from None
        return KeyPair.from_secret(self.scheme, secret)

    @property
    def scheme(self) -> SignatureScheme:
        """The signature scheme of the key."""
        return SignatureScheme(self._public[0])

    @property
    def public_key(self) -> bytes:
        """The public key, without the flag of its scheme."""
        return self._public[1:]

    @property
    def address(self) -> Address:
        """The key's address."""
        return key_address(self.scheme, self.public_key)

    @property
    def _public(self) -> bytes:
        return b64decode(self.public_key_base64)


def parse_encrypted_key(value: Any) -> EncryptedKey:
    """Parse an entry of a file with encrypted keys. Raises `key_invalid`."""
    try:
        key = msgspec.convert(value, EncryptedKey, strict=True)
        _check(key)
    except (ValueError, KeyError, IndexError, msgspec.MsgspecError) as error:
        raise ValidationError(
            "key_invalid", f"the entry is not an encrypted key: {error}"
        ) from None
    return key


def _check(key: EncryptedKey) -> None:
    """Raise `ValueError` or `KeyError` if an encrypted key is not valid."""
    cost = key.scrypt_cost
    # A higher cost could exhaust the memory, so that the operating system kills the process.
    if not 2 <= cost <= _MAX_COST or cost & (cost - 1):
        raise ValueError(f"expected a power of 2 up to {_MAX_COST} as the scrypt cost, got {cost}")
    for text in (key.salt_base64, key.nonce_base64, key.secret_base64):
        b64decode(text, validate=True)
    if len(key.public_key) != PUBLIC_KEY_LENGTHS[key.scheme]:
        raise ValueError(f"the public key of {key.alias[:80]} has the wrong length")


def format_encrypted_keys(keys: Sequence[EncryptedKey], others: Sequence[Any] = ()) -> str:
    """Return the text of a file with encrypted keys and the unchanged entries in `others`."""
    return msgspec.json.format(msgspec.json.encode([*keys, *others])).decode() + "\n"


def _derived(passphrase: str, salt: bytes, cost: int) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - only loaded on use

    kdf = Scrypt(salt=salt, length=_KEY_LENGTH, n=cost, r=_BLOCK_SIZE, p=_PARALLEL)
    # Normalize the passphrase, because keyboards produce different Unicode forms of the same
    # letters.
    return kdf.derive(unicodedata.normalize("NFC", passphrase).encode())


def _beside(public: str, cost: int) -> bytes:
    return f"nexus-tools key {public} scrypt {cost}".encode()


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def no_passphrase(alias: str) -> str:
    """Raise `passphrase_missing`.

    `Wallet` calls this function if the caller did not pass a function that returns passphrases.
    """
    raise UsageError(
        "passphrase_missing",
        f"the passphrase of the encrypted key {alias} is missing",
        hint="Pass a function that returns the passphrase of a key as `passphrase`.",
    )
