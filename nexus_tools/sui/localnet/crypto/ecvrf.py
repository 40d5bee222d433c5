"""A verifiable random function: the public key verifies the outputs of the secret key.

The function is ECVRF of RFC 9381 with a suite that Sui defines, over ristretto255 with SHA-512.
Source: `vrf.rs` of `fastcrypto`.
"""

import hashlib

from msgspec import Struct

from nexus_tools.sui.localnet.crypto.curves import ristretto255
from nexus_tools.sui.localnet.crypto.curves.edwards25519 import BASE, ORDER, Point, combine, negate

OUTPUT_LENGTH = 64

_SUITE = b"sui_vrf"
_DOMAIN = b"ECVRF_ristretto255_XMD:SHA-512_R255MAP_RO_sui_vrf"
_CHALLENGE, _OUTPUT, _END = b"\2", b"\3", b"\0"
_CHALLENGE_LENGTH = 16
_PROOF_LENGTH = 80


class EcvrfProof(Struct, frozen=True):
    """A proof, which consists of a group element, a challenge of 16 bytes, and a scalar."""

    gamma: Point
    challenge: bytes
    response: int

    @classmethod
    def parse(cls, data: bytes) -> "EcvrfProof":
        """Parse a proof of 80 bytes. Raises `ValueError`."""
        gamma = ristretto255.decode(data[: ristretto255.ELEMENT_LENGTH])
        challenge = data[ristretto255.ELEMENT_LENGTH :][:_CHALLENGE_LENGTH]
        response = int.from_bytes(data[-ristretto255.SCALAR_LENGTH :], "little")
        if len(data) != _PROOF_LENGTH or response >= ORDER:
            raise ValueError("not a canonical encoding of a proof")
        return cls(gamma, challenge, response)

    def verifies(self, public_key: Point, alpha: bytes) -> bool:
        """Return whether the proof is valid for a key and the input `alpha` (section 5.3)."""
        key = ristretto255.encode(public_key)
        if not any(key):
            return False
        point = ristretto255.hash_to_element(key + alpha, _DOMAIN)
        challenge = int.from_bytes(self.challenge, "little")
        # U = response · B - challenge · key, V = response · point - challenge · gamma. U and V
        # equal the prover's points only if gamma is the point times the secret number, and the key
        # is B times the secret number. Otherwise, the computed challenge differs from the challenge
        # in the proof.
        u, v = (
            combine(self.response, base, challenge, negate(image))
            for base, image in ((BASE, public_key), (point, self.gamma))
        )
        points = b"".join(map(ristretto255.encode, (public_key, point, self.gamma, u, v)))
        digest = hashlib.sha512(_SUITE + _CHALLENGE + points + _END).digest()
        return digest[:_CHALLENGE_LENGTH] == self.challenge

    def output(self) -> bytes:
        """Return the output that the proof proves, as 64 bytes (section 5.2)."""
        gamma = ristretto255.encode(self.gamma)
        return hashlib.sha512(_SUITE + _OUTPUT + gamma + _END).digest()
