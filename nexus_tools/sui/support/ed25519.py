"""Ed25519 as Sui verifies it, by the rules of ZIP 215: in transactions, in Move, and in our HTTP.

Source: ZIP 215 (zips.z.cash/zip-0215). Points may have small order or be encoded with y beyond the
prime; s has to be reduced; the equation is multiplied by the cofactor. It is Sui's own `fastcrypto`
that verifies; OpenSSL has other rules.
"""

from base64 import b64encode

KEY_LENGTH, SIGNATURE_LENGTH = 32, 64

_FLAG = 0  # of the scheme
_ANY_SIGNATURE = bytes(SIGNATURE_LENGTH)
# The point that is the sum of no points; R in a signature whose s is 0.
_IDENTITY = (1).to_bytes(KEY_LENGTH, "little")


def verifies_ed25519(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature of a message is the key's. Whatever is malformed is not."""
    return len(signature) == SIGNATURE_LENGTH and _verify(public_key, signature, message) is True


def is_ed25519_key(public_key: bytes) -> bool:
    """Whether the bytes are a point of the curve."""
    return _verify(public_key, _ANY_SIGNATURE, b"") is not None


def has_small_order(public_key: bytes) -> bool:
    """Whether a signature that nobody made fits every message: that of a point of small order."""
    return verifies_ed25519(public_key, _IDENTITY + bytes(KEY_LENGTH), b"")


def _verify(public_key: bytes, signature: bytes, message: bytes) -> bool | None:
    """Whether a signature verifies; None if the key is not one."""
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
