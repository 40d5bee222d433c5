"""Passkey signatures, in which a WebAuthn authenticator signs the message's digest as a challenge.

Sources: SIP-9, `sui-types/src/passkey_authenticator.rs`; W3C WebAuthn Level 2, sections 5.8.1
(client data) and 7.2 (the signed bytes).
"""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NoReturn

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError, byte_vector, record, string
from nexus_tools.sui.signature.ecdsa import (
    has_valid_scalars,
    is_ecdsa_key,
    is_valid_ecdsa_signature,
)
from nexus_tools.sui.signature.key_signature import KeySignature
from nexus_tools.sui.signature.scheme import (
    SignatureScheme,
    key_address,
    malformed,
    rejection_error,
)
from nexus_tools.sui.types.address import Address

_AUTHENTICATOR = record((byte_vector, string, byte_vector))
_TYPES = ("webauthn.get", "webauthn.create", "payment.get")
_CHALLENGE_LENGTH = 32


class Passkey(Struct, frozen=True):
    """The response of an authenticator to a signing request.

    `public_key` is a compressed point on secp256r1. `signature` is r || s.
    """

    authenticator_data: bytes
    client_data_json: str
    challenge: bytes
    signature: bytes
    public_key: bytes

    @classmethod
    def parse(cls, data: bytes) -> "Passkey":
        """Parse a serialized passkey signature, which consists of a flag byte and BCS bytes.

        Raises `signature_malformed`.
        """
        if data[:1] != bytes([SignatureScheme.PASSKEY]):
            raise malformed("a passkey signature must start with the flag byte 6")
        try:
            authenticator_data, client_data_json, key_signature = _AUTHENTICATOR.decode(data[1:])
        except BcsError as error:
            raise malformed(f"the passkey authenticator cannot be read: {error.message}") from None
        challenge = _challenge(client_data_json)
        parsed_signature = KeySignature.parse(key_signature)
        _check_key_signature(parsed_signature)
        return cls(
            authenticator_data,
            client_data_json,
            challenge,
            parsed_signature.signature,
            parsed_signature.public_key,
        )

    def address(self) -> Address:
        """Return the address of the passkey."""
        return key_address(SignatureScheme.PASSKEY, self.public_key)

    def verify(self, digest: bytes) -> None:
        """Check the signature against a message's digest. Raises `signature_invalid`."""
        if self.challenge != digest:
            raise rejection_error("Invalid challenge")
        client_data_hash = hashlib.sha256(self.client_data_json.encode()).digest()
        message = self.authenticator_data + client_data_hash
        scheme = SignatureScheme.SECP256R1
        if not is_valid_ecdsa_signature(scheme, self.public_key, self.signature, message):
            raise rejection_error("Fails to verify")


def _check_key_signature(signed: KeySignature) -> None:
    if signed.scheme is not SignatureScheme.SECP256R1:
        raise malformed("Invalid signature scheme")
    if not is_ecdsa_key(signed.scheme, signed.public_key):
        raise malformed("Invalid r1 pk")
    if not has_valid_scalars(signed.scheme, signed.signature):
        raise malformed("Invalid r1 sig")


def _challenge(client_data_json: str) -> bytes:
    """Return the challenge in the client data. The type of the data must be `webauthn.get`."""
    data = _client_data(client_data_json)
    if data["type"] != "webauthn.get":
        raise malformed("Invalid client data type")
    text = data["challenge"]
    try:
        challenge = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise malformed("Invalid encoded challenge") from None
    # The decoder ignores invalid characters and excess bits, so compare with the canonical form.
    canonical = urlsafe_b64encode(challenge).rstrip(b"=").decode()
    if canonical != text or len(challenge) != _CHALLENGE_LENGTH:
        raise malformed("Invalid encoded challenge")
    return challenge


def _client_data(text: str) -> dict[str, Any]:
    """Parse `CollectedClientData`. Unknown members are allowed, but duplicate members are not."""
    try:
        data = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise malformed("Invalid client data json") from None
    if not (
        isinstance(data, dict)
        and data.get("type") in _TYPES
        and isinstance(data.get("challenge"), str)
        and isinstance(data.get("origin"), str)
        and isinstance(data.get("crossOrigin"), bool | None)
    ):
        raise malformed("Invalid client data json")
    return data


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate member")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
