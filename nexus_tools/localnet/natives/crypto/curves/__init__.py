"""The pairing-friendly curves BLS12-381 and BN254: groups, signatures, proofs of Groth16."""

from nexus_tools.localnet.natives.crypto.curves import groth16_bls12381, groth16_bn254
from nexus_tools.localnet.natives.crypto.curves.bls12381 import SCALAR_BYTES, SCALARS
from nexus_tools.localnet.natives.crypto.curves.bls12381_points import G1, G2, PointGroup, pairing
from nexus_tools.localnet.natives.crypto.curves.bls12381_signature import (
    compressed,
    verifies_min_pk,
    verifies_min_sig,
)
from nexus_tools.localnet.natives.crypto.curves.bls12381_target import GT, from_arkworks
from nexus_tools.localnet.natives.crypto.curves.errors import InvalidElement
from nexus_tools.localnet.natives.crypto.curves.groth16 import PreparedKey, chunks

__all__ = [
    "G1",
    "G2",
    "GT",
    "SCALARS",
    "SCALAR_BYTES",
    "InvalidElement",
    "PointGroup",
    "PreparedKey",
    "chunks",
    "compressed",
    "from_arkworks",
    "groth16_bls12381",
    "groth16_bn254",
    "pairing",
    "verifies_min_pk",
    "verifies_min_sig",
]
