"""Proofs of Groth16 over BLS12-381.

Points are as Zcash has them, scalars little-endian; nothing may follow.
"""

from nexus_tools.localnet.natives.crypto.curves.bls12381 import SCALAR_BYTES, SCALARS
from nexus_tools.localnet.natives.crypto.curves.bls12381_points import G1, G2, pairing
from nexus_tools.localnet.natives.crypto.curves.errors import InvalidElement
from nexus_tools.localnet.natives.crypto.curves.groth16 import (
    PreparedKey,
    chunks,
    pieces,
    split_key,
)


def prepare_key(data: bytes) -> PreparedKey:
    """Prepare a verifying key. Raises `InvalidElement`."""
    (alpha, beta, gamma, delta), count, rest = split_key(data, G1.size, G2.size)
    abc = chunks(rest, G1.size)
    if not abc or len(abc) != count:
        raise InvalidElement
    alpha_beta = pairing([(G1.validate(alpha), G2.validate(beta))])
    negated = [G2.encode(-G2.validate(point)) for point in (gamma, delta)]
    for point in abc:
        G1.validate(point)
    return PreparedKey(rest, alpha_beta, *negated)


def verifies(key: PreparedKey, inputs: bytes, proof: bytes) -> bool:
    """Whether a proof is one for these public inputs. Raises `InvalidElement`."""
    scalars = [SCALARS.validate(each[::-1]) for each in chunks(inputs, SCALAR_BYTES)]
    abc = [G1.validate(point) for point in chunks(key.gamma_abc_g1, G1.size)]
    if len(abc) != len(scalars) + 1:
        raise InvalidElement
    total = G1.add(abc[0], G1.combine(scalars, abc[1:]))
    a, b, c, rest = pieces(proof, G1.size, G2.size, G1.size)
    if rest:
        raise InvalidElement
    return key.alpha_g1_beta_g2 == pairing(
        [
            (G1.validate(a), G2.validate(b)),
            (total, G2.validate(key.gamma_g2_negated)),
            (G1.validate(c), G2.validate(key.delta_g2_negated)),
        ]
    )
