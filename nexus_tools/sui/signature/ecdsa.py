"""ECDSA over secp256k1 and secp256r1. The larger of the two possible values of s is rejected.

Sources: the modules `secp256k1` and `secp256r1` of `fastcrypto`. The orders of the curves are from
SEC 2, sections 2.4.1 and 2.4.2.
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
    """Return whether a signature r || s of a message's SHA-256 is valid for a compressed key."""
    digest = hashlib.sha256(message).digest()
    return is_valid_ecdsa_digest_signature(scheme, public_key, signature, digest)


def is_valid_ecdsa_digest_signature(
    scheme: SignatureScheme, public_key: bytes, signature: bytes, digest: bytes
) -> bool:
    """Return whether a signature r || s of a 32-byte digest is valid for a compressed key."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 40 ms
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    r, s = _scalars(signature)
    # If (r, s) is valid for a message, (r, order - s) is also valid. Accept only the smaller s.
    if not has_valid_scalars(scheme, signature) or s > _ORDERS[scheme] // 2:
        return False
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(
            getattr(ec, _CURVES[scheme])(), public_key
        )
        # `Prehashed` only checks the length of the digest. Keccak-256 and SHA-256 digests have
        # the same length.
        algorithm = ec.ECDSA(utils.Prehashed(SHA256()))
        key.verify(utils.encode_dss_signature(r, s), digest, algorithm)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign_ecdsa_digest(scheme: SignatureScheme, secret: bytes, digest: bytes) -> bytes:
    """Return the deterministic signature r || s of a 32-byte digest. Source: RFC 6979.

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
    """Return whether r and s are between 1 and the order of the curve minus 1."""
    return all(0 < scalar < _ORDERS[scheme] for scalar in _scalars(signature))


def _scalars(signature: bytes) -> tuple[int, int]:
    return int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
