"""Signing members, with keys of `cryptography`."""

from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from nexus_tools.sui.signature import MultiSigMember, SignatureScheme
from nexus_tools.sui.types.digest import blake2b256

ORDERS = {
    1: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    2: 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
}


@dataclass
class Key:
    """A key with a serialized signature of any message."""

    scheme: SignatureScheme
    secret: bytes

    def __post_init__(self):
        if self.scheme == 0:
            self.key = ed25519.Ed25519PrivateKey.from_private_bytes(self.secret)
            self.public = self.key.public_key().public_bytes_raw()
            return
        curve = ec.SECP256K1() if self.scheme == 1 else ec.SECP256R1()
        self.key = ec.derive_private_key(int.from_bytes(self.secret, "big"), curve)
        public = self.key.public_key()
        self.public = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)

    def member(self, weight=1):
        return MultiSigMember(self.scheme, self.public, weight)

    def part(self, message):
        """Return the 64 bytes of a signature."""
        digest = blake2b256(message)
        if self.scheme == 0:
            return self.key.sign(digest)
        r, s = utils.decode_dss_signature(self.key.sign(digest, ec.ECDSA(SHA256())))
        s = min(s, ORDERS[self.scheme] - s)
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def sign(self, message):
        return bytes([self.scheme]) + self.part(message) + self.public


@pytest.fixture
def make_key():
    return lambda scheme, seed: Key(SignatureScheme(scheme), bytes([seed]) * 32)


@pytest.fixture
def keys(make_key):
    """Return one key of each scheme."""
    return [make_key(scheme, 7 + scheme) for scheme in range(3)]
