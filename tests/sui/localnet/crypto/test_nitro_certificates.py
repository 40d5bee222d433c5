"""Chains of certificates, by RFC 5280; the root by the fingerprint that AWS publishes."""

import datetime as dt

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.x509.oid import NameOID

from nexus_tools.sui.localnet.crypto.nitro_certificates import ROOT, is_valid_chain

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
SIGNS, ISSUES = {"digital_signature"}, {"key_cert_sign"}
USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Issuer:
    """A key with a certificate, and the certificates that it issues."""

    def __init__(self, subject, key, certificate=None):
        self.subject, self.key, self.certificate = subject, key, certificate

    @classmethod
    def root(cls):
        root = cls("root", ec.generate_private_key(ec.SECP384R1()))
        root.certificate = root.issue("root", key=root.key).certificate
        return root

    def issue(self, subject, **options):
        options = {
            "usage": ISSUES,
            "ca": True,
            "critical": True,
            "path_length": None,
            "days": 1,
            "key": ec.generate_private_key(ec.SECP384R1()),
            **options,
        }
        builder = (
            x509.CertificateBuilder()
            .subject_name(name(subject))
            .issuer_name(name(self.subject))
            .public_key(options["key"].public_key())
            .serial_number(7)
            .not_valid_before(NOW - DAY)
            .not_valid_after(NOW + options["days"] * DAY)
        )
        if options["usage"] is not None:
            usage = x509.KeyUsage(
                **{usage_name: usage_name in options["usage"] for usage_name in USAGES}
            )
            builder = builder.add_extension(usage, critical=True)
        if options["ca"] is not None:
            basic = x509.BasicConstraints(options["ca"], options["path_length"])
            builder = builder.add_extension(basic, critical=options["critical"])
        return Issuer(subject, options["key"], builder.sign(self.key, SHA384()))


ISSUED = Issuer.root()


def accepts(*issuers, now=NOW):
    return is_valid_chain([issuer.certificate for issuer in issuers], int(now.timestamp()))


def leaf_of(issuer, **options):
    return issuer.issue("leaf", **{"usage": SIGNS, "ca": None, **options})


def test_root_has_fingerprint_published_by_aws():
    certificate = x509.load_pem_x509_certificate(ROOT)
    assert certificate.fingerprint(SHA256()).hex() == (
        "641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b"
    )


def test_chain_from_root_to_signing_key_is_valid():
    middle = ISSUED.issue("middle")
    assert accepts(leaf_of(middle), middle, ISSUED)
    assert accepts(leaf_of(middle, ca=False), middle, ISSUED)
    assert accepts(leaf_of(ISSUED), ISSUED)


def test_ca_key_is_not_a_leaf():
    assert not accepts(leaf_of(ISSUED, ca=True), ISSUED)
    assert not accepts(leaf_of(ISSUED, usage=ISSUES), ISSUED)
    assert not accepts(leaf_of(ISSUED, usage=None), ISSUED)


@pytest.mark.parametrize(
    "options", [{"usage": SIGNS}, {"usage": None}, {"ca": False}, {"ca": None}, {"critical": False}]
)
def test_key_without_ca_rights_is_not_an_issuer(options):
    middle = ISSUED.issue("middle", **options)
    assert not accepts(leaf_of(middle), middle, ISSUED)


def test_issuer_limits_path_length():
    for path_length, is_accepted in ((0, False), (1, True)):
        upper = ISSUED.issue("upper", path_length=path_length)
        lower = upper.issue("lower", path_length=0)
        assert accepts(leaf_of(lower), lower, upper, ISSUED) is is_accepted


def test_certificates_are_checked_for_their_validity_period():
    middle = ISSUED.issue("middle", days=3)
    leaf = leaf_of(middle, days=2)
    assert accepts(leaf, middle, ISSUED, now=NOW + 2 * DAY)
    assert not accepts(leaf, middle, ISSUED, now=NOW + 2 * DAY + dt.timedelta(seconds=1))
    assert not accepts(leaf, middle, ISSUED, now=NOW - DAY - dt.timedelta(seconds=1))
    short = ISSUED.issue("middle", days=1)
    assert not accepts(leaf_of(short, days=3), short, ISSUED, now=NOW + 2 * DAY)


def test_certificate_must_be_issued_by_the_next():
    middle, other = ISSUED.issue("middle"), ISSUED.issue("other")
    impostor = Issuer.root().issue("middle")
    assert not accepts(leaf_of(middle), other, ISSUED)
    assert not accepts(leaf_of(middle), impostor, ISSUED)
    assert not accepts(leaf_of(middle), middle, Issuer.root())
