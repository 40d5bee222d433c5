"""The verification of AWS Nitro certificates, from Amazon's root to the attestation key.

Source: `verify_cert_chain` in `nitro_attestation.rs` of `sui-types`, and RFC 5280 for the terms.
Import this module late, because its certificate library takes 60 ms to import, and few transactions
need it.
"""

from collections.abc import Sequence
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.x509 import Certificate

from nexus_tools.sui.localnet.crypto.nitro_document import Attestation

ROOT = b"""-----BEGIN CERTIFICATE-----
MIICETCCAZagAwIBAgIRAPkxdWgbkK/hHUbMtOTn+FYwCgYIKoZIzj0EAwMwSTEL
MAkGA1UEBhMCVVMxDzANBgNVBAoMBkFtYXpvbjEMMAoGA1UECwwDQVdTMRswGQYD
VQQDDBJhd3Mubml0cm8tZW5jbGF2ZXMwHhcNMTkxMDI4MTMyODA1WhcNNDkxMDI4
MTQyODA1WjBJMQswCQYDVQQGEwJVUzEPMA0GA1UECgwGQW1hem9uMQwwCgYDVQQL
DANBV1MxGzAZBgNVBAMMEmF3cy5uaXRyby1lbmNsYXZlczB2MBAGByqGSM49AgEG
BSuBBAAiA2IABPwCVOumCMHzaHDimtqQvkY4MpJzbolL//Zy2YlES1BR5TSksfbb
48C8WBoyt7F2Bw7eEtaaP+ohG2bnUs990d0JX28TcPQXCEPZ3BABIeTPYwEoCWZE
h8l5YoQwTcU/9KNCMEAwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUkCW1DdkF
R+eWw5b6cp3PmanfS5YwDgYDVR0PAQH/BAQDAgGGMAoGCCqGSM49BAMDA2kAMGYC
MQCjfy+Rocm9Xue4YnwWmNJVA44fA0P5W2OpYow9OYCVRaEevL8uO1XYru5xtMPW
rfMCMQCi85sWBbJwKKXdS6BptQFuZbT73o/gBh1qUxl/nNr12UO8Yfwr6wPLb+6N
IwLz3/Y=
-----END CERTIFICATE-----
"""
"""The root certificate `AWS_NitroEnclaves_Root-G1` that AWS publishes, in PEM."""

_COORDINATE_LENGTH = 48


def is_genuine(attestation: Attestation, now_ms: int) -> bool:
    """Return whether AWS signed an attestation and its certificates are valid at this time."""
    document = attestation.document
    encoded = (document.certificate, *reversed(document.chain))
    try:
        certificates = [x509.load_der_x509_certificate(data) for data in encoded]
        if not _signs(certificates[0], attestation):
            return False
        return is_valid_chain([*certificates, x509.load_pem_x509_certificate(ROOT)], now_ms // 1000)
    except (
        ValueError,
        UnsupportedAlgorithm,
        x509.InvalidVersion,
        x509.DuplicateExtension,
        x509.UnsupportedGeneralNameType,
    ):
        return False  # a certificate cannot be parsed


def is_valid_chain(certificates: Sequence[Certificate], now_s: int) -> bool:
    """Return whether a chain of certificates, from the leaf to the root, is valid at this time."""
    return all(
        certificate.not_valid_before_utc.timestamp() <= now_s
        and now_s <= certificate.not_valid_after_utc.timestamp()
        and (_is_issuer(certificate, index - 1) if index else _is_leaf(certificate))
        and _issues(issuer, certificate)
        for index, (certificate, issuer) in enumerate(pairwise(certificates))
    )


def _signs(certificate: Certificate, attestation: Attestation) -> bool:
    key = certificate.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP384R1):
        return False
    data = attestation.signature
    halves = (data[:_COORDINATE_LENGTH], data[_COORDINATE_LENGTH:])
    r, s = (int.from_bytes(half, "big") for half in halves)
    try:
        key.verify(utils.encode_dss_signature(r, s), attestation.signed, ec.ECDSA(SHA384()))
    except InvalidSignature:
        return False
    return True


def _issues(issuer: Certificate, certificate: Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _is_leaf(certificate: Certificate) -> bool:
    """Return whether a certificate is for a signing key that does not belong to a CA."""
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return False
    try:
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return usage.digital_signature
    return usage.digital_signature and not basic.ca and basic.path_length is None


def _is_issuer(certificate: Certificate, issuers_below: int) -> bool:
    """Return whether a certificate is for a CA that may have this number of issuers below it."""
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except x509.ExtensionNotFound:
        return False
    length = basic.value.path_length
    may_issue = usage.key_cert_sign and basic.critical and basic.value.ca
    return may_issue and (length is None or issuers_below <= length)
