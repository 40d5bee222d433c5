"""Digests, and the object IDs that are derived by hashing.

Source: `sui-types/src/{digests,base_types,dynamic_field,derived_object}.rs`. The digest of a value
is the BLAKE2b-256 hash of the name of its type, two colons, and its BCS bytes.
"""

import hashlib
from typing import Self

from nexus_tools.sui.bcs import BcsError, Codec
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.types.address import Address

DIGEST_LENGTH = 32
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PLACES = {character: place for place, character in enumerate(_ALPHABET)}


class Digest(bytes):
    """The 32-byte digest of a transaction, effects, events, an object version or a checkpoint.

    A `Digest` is a `bytes` object and is equal to a `bytes` object with the same bytes. `str()`
    returns base58.
    """

    __slots__ = ()

    def __new__(cls, value: bytes) -> Self:
        """Create a digest from 32 bytes. Raises `digest_invalid`."""
        if len(value) != DIGEST_LENGTH:
            raise ValidationError(
                "digest_invalid",
                f"expected {DIGEST_LENGTH} bytes for a digest, got {len(value)}",
            )
        return bytes.__new__(cls, value)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a digest in base58. Raises `digest_invalid`."""
        try:
            return cls(base58_decode(text))
        except (KeyError, ValidationError):
            raise ValidationError(
                "digest_invalid",
                f"{text[:80]!r} is not a valid digest",
                hint="Use 32 bytes in base58, which are 43 or 44 characters.",
            ) from None

    def __str__(self) -> str:
        return base58_encode(self)

    def __repr__(self) -> str:
        return f"Digest({self})"


def base58_encode(data: bytes) -> str:
    """Encode bytes as base58 with Bitcoin's alphabet. Each leading zero byte becomes a `1`."""
    number, digits = int.from_bytes(data, "big"), []
    while number:
        number, digit = divmod(number, 58)
        digits.append(_ALPHABET[digit])
    zeros = len(data) - len(data.lstrip(b"\0"))
    return "1" * zeros + "".join(reversed(digits))


def base58_decode(text: str) -> bytes:
    """Decode base58 text of at most 64 characters. Raises `KeyError` for an invalid character."""
    if len(text) > 64:
        raise KeyError(text[:80])
    number = 0
    for character in text:
        number = number * 58 + _PLACES[character]
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _read_digest(data: bytes, position: int) -> tuple[Digest, int]:
    if data[position] != DIGEST_LENGTH:
        raise BcsError(f"expected {DIGEST_LENGTH} bytes for a digest, got {data[position]}")
    start = position + 1
    if start + DIGEST_LENGTH > len(data):
        raise IndexError
    return Digest(bytes(data[start : start + DIGEST_LENGTH])), start + DIGEST_LENGTH


_LENGTH_BYTE = bytes([DIGEST_LENGTH])


def _write_digest(value: bytes, out: bytearray) -> None:
    if len(value) != DIGEST_LENGTH:
        raise BcsError(f"expected {DIGEST_LENGTH} bytes for a digest, got {len(value)}")
    out += _LENGTH_BYTE
    out += value


DIGEST: Codec[Digest] = Codec(_read_digest, _write_digest)


def blake2b256(*parts: bytes) -> bytes:
    """Return the BLAKE2b-256 hash (32 bytes) of the concatenated parts."""
    return hashlib.blake2b(b"".join(parts), digest_size=32).digest()


def transaction_digest(transaction_data: bytes) -> Digest:
    """Return the digest of the BCS bytes of a `TransactionData`."""
    return Digest(blake2b256(b"TransactionData::", transaction_data))


def effects_digest(effects: bytes) -> Digest:
    """Return the digest of the BCS bytes of `TransactionEffects`."""
    return Digest(blake2b256(b"TransactionEffects::", effects))


def events_digest(events: bytes) -> Digest:
    """Return the digest of the BCS bytes of `TransactionEvents`."""
    return Digest(blake2b256(b"TransactionEvents::", events))


def object_digest(object_bytes: bytes) -> Digest:
    """Return the digest of the BCS bytes of an `Object`."""
    return Digest(blake2b256(b"Object::", object_bytes))


def checkpoint_digest(summary: bytes) -> Digest:
    """Return the digest of the BCS bytes of a `CheckpointSummary`."""
    return Digest(blake2b256(b"CheckpointSummary::", summary))


def checkpoint_contents_digest(contents: bytes) -> Digest:
    """Return the digest of the BCS bytes of `CheckpointContents`."""
    return Digest(blake2b256(b"CheckpointContents::", contents))


def created_object_id(transaction: bytes, number: int) -> Address:
    """Return the ID of an object that a transaction creates. Creation numbers start at 0."""
    return Address(blake2b256(b"\xf1", transaction, number.to_bytes(8, "little")))


def dynamic_field_id(parent: bytes, key_type: bytes, key: bytes) -> Address:
    """Return the ID of the dynamic field with a key in the object `parent`.

    `key_type` are the BCS bytes of the key's type tag. `key` are the BCS bytes of the key.
    """
    return Address(blake2b256(b"\xf0", parent, len(key).to_bytes(8, "little"), key, key_type))
