"""ECDSA over secp256k1 and secp256r1, which rejects the larger of the two possible s.

Source: `fastcrypto`'s `secp256k1` and `secp256r1`; orders of the curves: SEC 2, sections 2.4.1 and
2.4.2.
"""

import hashlib

from nexus_tools.sui.signature.scheme import SignatureScheme

_CURVES = {
    SignatureScheme.SECP256K1: "SECP256K1",
    SignatureScheme.SECP256R1: "SECP256R1",
}
_ORDERS = {
    SignatureScheme.SECP256K1: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    SignatureScheme.SECP256R1: 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
}


def is_valid_ecdsa_signature(
    scheme: SignatureScheme, public_key: bytes, signature: bytes, message: bytes
) -> bool:
    """Return whether r || s is the compressed key's signature of the message's SHA-256."""
    digest = hashlib.sha256(message).digest()
    return is_valid_ecdsa_digest_signature(scheme, public_key, signature, digest)


def is_valid_ecdsa_digest_signature(
    scheme: SignatureScheme, public_key: bytes, signature: bytes, digest: bytes
) -> bool:
    """Return whether r || s is the compressed key's signature of a 32-byte digest."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 40 ms
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    r, s = _scalars(signature)
    # If (r, s) is valid for a message, so is (r, order - s). Only one of them is accepted.
    if not has_valid_scalars(scheme, signature) or s > _ORDERS[scheme] // 2:
        return False
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(
            getattr(ec, _CURVES[scheme])(), public_key
        )
        # A prehashed signature only checks the length, which Keccak-256 and SHA-256 share.
        algorithm = ec.ECDSA(utils.Prehashed(SHA256()))
        key.verify(utils.encode_dss_signature(r, s), digest, algorithm)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign_ecdsa_digest(scheme: SignatureScheme, secret: bytes, digest: bytes) -> bytes:
    """Return the deterministic signature r || s of a digest of 32 bytes. Source: RFC 6979.

    Raises `ValueError` if the secret is not a scalar of the curve.
    """
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415 - 40 ms
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    key = ec.derive_private_key(int.from_bytes(secret, "big"), getattr(ec, _CURVES[scheme])())
    algorithm = ec.ECDSA(utils.Prehashed(SHA256()), deterministic_signing=True)
    r, s = utils.decode_dss_signature(key.sign(digest, algorithm))
    return b"".join(scalar.to_bytes(32, "big") for scalar in (r, min(s, _ORDERS[scheme] - s)))


def is_ecdsa_key(scheme: SignatureScheme, public_key: bytes) -> bool:
    """Return whether the bytes are a compressed point of the curve."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - 40 ms

    try:
        ec.EllipticCurvePublicKey.from_encoded_point(getattr(ec, _CURVES[scheme])(), public_key)
    except ValueError:
        return False
    return len(public_key) == 33


def has_valid_scalars(scheme: SignatureScheme, signature: bytes) -> bool:
    """Return whether r and s are in the range that a signature can have."""
    return all(0 < scalar < _ORDERS[scheme] for scalar in _scalars(signature))


def _scalars(signature: bytes) -> tuple[int, int]:
    return int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
