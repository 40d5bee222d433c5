"""The verification of Ed25519 signatures by the rules of ZIP 215, which Sui uses.

Points may have small order, and the encoding of y may exceed the prime. The scalar s must be
reduced. The verification equation includes the cofactor. This module uses Sui's own library
`fastcrypto`, because OpenSSL follows other rules. Source: ZIP 215 (zips.z.cash/zip-0215).
"""

from base64 import b64encode

KEY_LENGTH, SIGNATURE_LENGTH = 32, 64

_FLAG = 0  # the flag byte of the Ed25519 scheme
_ANY_SIGNATURE = bytes(SIGNATURE_LENGTH)
# The neutral element of the curve. In a signature with s = 0, R is the neutral element.
_IDENTITY = (1).to_bytes(KEY_LENGTH, "little")


def verify_ed25519(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a signature is valid. The result is False for malformed arguments."""
    return len(signature) == SIGNATURE_LENGTH and _verify(public_key, signature, message) is True


def is_ed25519_key(public_key: bytes) -> bool:
    """Return whether a public key is a point on the curve."""
    return _verify(public_key, _ANY_SIGNATURE, b"") is not None


def has_small_order(public_key: bytes) -> bool:
    """Return whether a public key is a point of small order, so anyone can forge signatures."""
    return verify_ed25519(public_key, _IDENTITY + bytes(KEY_LENGTH), b"")


def _verify(public_key: bytes, signature: bytes, message: bytes) -> bool | None:
    """Return whether a signature is valid, or None if the key is malformed."""
    import pysui_fastcrypto  # noqa: PLC0415 - native code, loaded when a signature is verified

    if len(public_key) != KEY_LENGTH:
        return None
    try:
        return bool(
            pysui_fastcrypto.verify_pubk(_FLAG, public_key, _base64(message), _base64(signature))
        )
    except ValueError:
        return None


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")
